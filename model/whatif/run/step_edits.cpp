// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/step_edits.h"

#include "model/analysis/training/steps/deep_check.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/run/aligned_steps.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

/// Above all where there is no such block.
EventIndex birthOf(const DeviceTrace& trace, std::uint32_t row)
{
    return row == AlignedStep::kNone ? trace.eventCount() : trace.blocks().birth(BlockId::born(row));
}

/// The row, of the one step, of the middle one of the blocks that both have; above all where they have none.
std::uint32_t middlePaired(const AlignedStep& step)
{
    auto left = (static_cast<std::int64_t>(step.blocks.size()) - step.alone + 1) / 2;
    for (std::size_t i = 0; i < step.blocks.size(); ++i)
        if (step.blocks[i] != AlignedStep::kNone && --left == 0)
            return step.firstBlock + static_cast<std::uint32_t>(i);
    return AlignedStep::kNone;
}

/// The classes of modules that ran, the most frequent first.
std::string classesIn(const StepOwners& owners, const StringTable& strings)
{
    std::map<std::string_view, int> counts;
    for (const StepOwners::Window& window : owners.windows)
        ++counts[strings[window.type]];
    std::vector<std::pair<int, std::string_view>> classes;
    for (const auto& [name, count] : counts)
        classes.emplace_back(-count, name);
    std::ranges::sort(classes);
    constexpr std::size_t kNamed = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(classes.size(), kNamed); ++i)
        text.append(i == 0 ? "" : ", ").append(classes[i].second);
    return text + (classes.size() > kNamed ? ", ..." : "");
}

} // namespace

RunEdits inAllSteps(
    const DeviceTrace& trace, const TrainingSteps& steps, StepStretch stretch, const StepEdits& edits)
{
    RunEdits all;
    RuleSums sums;
    const auto bytesOf
        = [&](std::uint32_t block) { return trace.blocks().requestedBytes[BlockId::born(block)]; };
    for (const AlignedStep& step : alignSteps(trace, steps, stretch.begin, stretch.end)) {
        const auto there = [&](RunEdits::Place place) {
            place.event = step.placeOf(std::min(place.event, stretch.end));
            return place;
        };
        const std::uint32_t middle = middlePaired(step);
        std::size_t missing = 0, missingWithin = 0;
        for (const StepEdits::Change& change : edits.changes) {
            const std::uint32_t block = step.blockOf(change.block);
            if (block == AlignedStep::kNone) {
                ++missing;
                missingWithin += change.block > middle ? 1 : 0;
                sums.add(BlockRule::NotAligned, bytesOf(change.block));
                continue;
            }
            all.moves.push_back({ block, there({ change.dies.event, change.dies.row, 0 }) });
            sums.add(change.rule, bytesOf(block));
        }
        // Else it begins within that step, and what it lacks came before.
        const auto strays = std::ranges::count_if(
            step.strays, [&](EventIndex event) { return event < birthOf(trace, step.blockOf(middle)); });
        const bool doesOther = 2 * strays > static_cast<std::int64_t>(missing) || 2 * missingWithin > missing;
        all.stepsLeft += step.isWhole && doesOther && 2 * missing > edits.changes.size() ? 1 : 0;
        for (const StepEdits::Added& added : edits.added) {
            RunEdits::Place dies = there({ added.dies.event, added.dies.row, 0 });
            if (added.diesWith) {
                const std::uint32_t with = step.blockOf(*added.diesWith);
                if (with == AlignedStep::kNone)
                    continue;
                dies = { recordedDeath(trace, with).event, 0, 0 };
            }
            RunEdits::Added& made = all.added.emplace_back(RunEdits::Added{ added.bytes, added.like,
                added.newStream, there({ added.born.event, added.born.row, 0 }), dies });
            if (added.sizedAs) {
                made.sizedAs = step.blockOf(*added.sizedAs);
                made.sizedBytes = bytesOf(*added.sizedAs);
                if (made.sizedAs == AlignedStep::kNone) {
                    sums.add(BlockRule::NotAligned, added.bytes);
                    all.added.pop_back();
                    continue;
                }
            }
            sums.add(added.rule, added.bytes);
        }
        for (const std::uint32_t row : edits.removed) {
            const std::uint32_t block = step.blockOf(row);
            sums.add(block == AlignedStep::kNone ? BlockRule::NotAligned : BlockRule::NotAgain, bytesOf(row));
            if (block != AlignedStep::kNone)
                all.removed.push_back(block);
        }
        for (const RunEdits::Copy& copy : edits.copies) {
            const std::uint32_t like = step.blockOf(copy.like);
            if (like == AlignedStep::kNone)
                continue;
            all.copies.push_back({ like, there(copy.born), there(copy.dies) });
            sums.add(BlockRule::Recomputed, bytesOf(like));
        }
    }
    all.uses = sums.used();
    return all;
}

Result<RunEdits> orRefused(RunEdits edits)
{
    if (edits.stepsLeft > 0)
        return fail(Error::Kind::Refused,
            say("steps of the training (%1) do other things than the one that was looked at, which does not "
                "tell what becomes of them",
                asCount(edits.stepsLeft)),
            say("record with a deep step that is like them: strata record --deep-step 5 -- COMMAND"));
    return edits;
}

Hint hintForDeepStep(const DeviceTrace& trace, Hint ofOneGpu)
{
    const auto gpus = static_cast<std::int64_t>(trace.recording().devices.size());
    return gpus < 2
        ? std::move(ofOneGpu)
        : hintToRun(say("what a step on several GPUs comes to, the program itself tells: --confirm -- "
                        "COMMAND, or strata dryrun --devices %1 --change",
            gpus));
}

Result<const DeepStep*> usableDeepStep(const DeviceTrace& trace)
{
    if (const DeepStep* const step = deepStepOf(trace))
        return step;
    Sentence why;
    const DeepStep* other = nullptr; // of another GPU
    if (const auto* const part = trace.recording().parts.find<DeepSteps>())
        for (const DeepStep& step : part->steps) {
            if (step.device != trace.device()) {
                other = &step;
                continue;
            }
            why = sayDeepCheck(step, checkDeepStep(trace, step), trace.recording().strings);
        }
    if (why.empty() && other != nullptr) // a step that both took part in is told of the first
        why = other->unusable.valid() ? say("it is not to be used: %1",
                  verbatim(std::string(trace.recording().strings[other->unusable])))
                                      : say("it is of GPU %1 alone", std::int64_t{ other->device });
    if (!why.empty())
        return fail(Error::Kind::Refused, say("the recording has a deep step, but %1", why),
            hintForDeepStep(
                trace, say("record another step of the training: strata record --deep-step 5 -- COMMAND")));
    return fail(Error::Kind::Refused,
        say("the recording has no deep step, which tells what is saved for backward and who has it"),
        trace.outOfMemories().empty()
            ? hintForDeepStep(
                trace, say("record the program with one: strata record --deep-step 3 -- COMMAND"))
            : Hint(say(
                "the program ran out of memory: strata oom has the command that runs all of it on a larger "
                "simulated GPU")));
}

Result<OwnedStep> ownedDeepStep(const DeviceTrace& trace)
{
    const auto deep = usableDeepStep(trace);
    if (!deep)
        return Failure(deep.error());
    auto owners = stepOwners(trace, **deep);
    if (!owners)
        return Failure(owners.error());
    return OwnedStep{ *deep, std::move(*owners) };
}

DeepMoment programsEnd(const StepOwners& owners, std::uint32_t block, const DeepMoment& saved)
{
    const auto program = owners.program.find(block);
    return program == owners.program.end() ? saved : program->second;
}

Failure noSuchModule(const StepOwners& owners, const StringTable& strings)
{
    return fail(Error::Kind::Refused, say("no module that ran in the deep step is of that class or path"),
        say("there are the classes %1; paths are those of strata ledger --by module, as path:blocks.**",
            verbatim(classesIn(owners, strings))));
}

} // namespace strata::model
