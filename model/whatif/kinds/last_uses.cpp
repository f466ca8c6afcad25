// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/last_uses.h"

#include "model/analysis/training/deep/unused_memory.h"
#include "model/analysis/training/steps/step_ends.h"
#include "model/trace/frames.h"
#include "model/whatif/evidence/site_blocks.h"
#include "model/whatif/run/aligned_steps.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

using Statement = std::vector<FrameId>; // innermost first

/// Statements of the program, as stacks show them: its own frames, each with its line. Calls within a
/// statement of C++ have frames of their own, as they return to different places: the first of that line
/// stands for all.
class Statements {
public:
    explicit Statements(const Recording& recording)
        : m_recording(recording)
        , m_own(recording.stacks.frameCount(), kNotLookedAt)
    {
    }

    [[nodiscard]] const Statement& of(StackId stack)
    {
        const auto [known, isNew] = m_known.try_emplace(stack.index());
        if (isNew)
            for (const FrameId frame : m_recording.stacks.stack(stack))
                if (isOwn(frame))
                    known->second.push_back(sameLine(frame));
        return known->second;
    }
    [[nodiscard]] std::string label(std::span<const FrameId> statement) const
    {
        return statement.empty() ? std::string() : frameLabel(m_recording, statement.front());
    }

private:
    static constexpr std::uint8_t kNotLookedAt = 2;

    [[nodiscard]] bool isOwn(FrameId frame)
    {
        std::uint8_t& known = m_own[frame.index()];
        if (known == kNotLookedAt)
            known = isProgramFrame(m_recording, frame) ? 1 : 0;
        return known == 1;
    }

    [[nodiscard]] FrameId sameLine(FrameId frame)
    {
        const Frame& code = m_recording.stacks.frame(frame);
        if (code.line == 0) // nothing tells its line
            return frame;
        return m_lines.try_emplace({ code.file, code.function, code.line }, frame).first->second;
    }

    const Recording& m_recording;
    std::vector<std::uint8_t> m_own; // by FrameId
    std::map<std::tuple<StringId, StringId, std::int64_t>, FrameId> m_lines; // the first that was seen
    std::map<std::size_t, Statement> m_known; // by StackId: references stay
};

class Freeing {
public:
    Freeing(const RecordedRun& run, const DeepStep& deep, const StepOwners& owners)
        : m_run(run)
        , m_trace(*run.trace)
        , m_deep(deep)
        , m_owners(owners)
        , m_statements(run.trace->recording())
        , m_first(static_cast<std::uint32_t>(allocsBefore(*run.trace, deep.beginEvent)))
        , m_end(static_cast<std::uint32_t>(allocsBefore(*run.trace, deep.endEvent)))
    {
        for (const StepOwners::Hold& hold : owners.holds)
            if (hold.block != StepOwners::kNoBlock && !isOfDeadBranch(hold))
                m_saved[hold.block] = std::max(m_saved[hold.block], endOf(hold));
        findPlaces();
        findLaterUses();
        findDeadBranches();
    }

    /// `chosen`: by row; empty: all.
    [[nodiscard]] Result<FreedTensors> freed(const std::vector<bool>& chosen)
    {
        StepEdits edits;
        for (std::uint32_t block = m_first; block < m_end; ++block)
            if (chosen.empty() || chosen[block])
                free(block, edits);
        std::vector<HeldLine> unused = chosen.empty() ? unusedLines() : std::vector<HeldLine>();
        if (edits.changes.empty())
            return nothingToFree(chosen.empty(), unused);
        auto all = orRefused(inAllSteps(m_trace, *m_run.steps, stretchOf(m_deep), edits));
        if (!all)
            return Failure(all.error());
        FreedTensors freed;
        freed.edits = std::move(*all);
        for (auto& [key, line] : m_held)
            freed.held.push_back(std::move(line));
        std::ranges::move(unused, std::back_inserter(freed.held));
        std::ranges::stable_sort(freed.held, std::greater(), &HeldLine::bytes);
        return freed;
    }

private:
    [[nodiscard]] Failure nothingToFree(bool ofAll, const std::vector<HeldLine>& unused) const
    {
        if (!ofAll)
            return fail(Error::Kind::Refused, say("what is asked for there goes where it is used last"),
                say("there is nothing to gain by a del"));
        if (unused.empty())
            return fail(Error::Kind::Refused, say("the program lets go of everything where it uses it last"),
                say("there is nothing to gain by a del"));
        Sentence all;
        for (const HeldLine& line : unused) {
            Sentence one = line.isLoaded
                ? say("%1 of %2 (loaded from a file)", asBytes(line.bytes), line.line)
                : say("%1 of %2", asBytes(line.bytes), line.line);
            all = all.empty() ? std::move(one) : say("%1, %2", std::move(all), std::move(one));
        }
        return fail(Error::Kind::Refused,
            say("no operator of the recorded step uses %1, which stay to the end; the program lets go of all "
                "else "
                "where it uses it last",
                std::move(all)),
            say("if no other step uses them, drop them before the steps"));
    }

    /// Of what nothing uses, that which stays to the end.
    [[nodiscard]] std::vector<HeldLine> unusedLines() const
    {
        constexpr std::size_t kMostLines = 3;
        std::vector<HeldLine> largest;
        for (const UnusedLine& unused : unusedMemory(m_trace, m_deep, m_owners)) {
            if (largest.size() == kMostLines)
                break;
            if (!unused.staysToEnd || unused.kind == UnusedKind::View)
                continue;
            HeldLine& line = largest.emplace_back();
            line.line = unused.line;
            line.lastUse = "nothing";
            line.isLoaded = unused.kind == UnusedKind::Loaded;
            line.blocks = unused.blocks;
            line.bytes = unused.bytes;
        }
        return largest;
    }

    /// Nobody has it any more that backward needs it for.
    static DeepMoment endOf(const StepOwners::Hold& hold)
    {
        const DeepMoment released = hold.released.value_or(kNeverInStep);
        return hold.used ? std::max(released, *hold.used) : released;
    }

    /// Backward never comes there: it lasts as long as the program has what it made of it.
    [[nodiscard]] bool isOfDeadBranch(const StepOwners::Hold& hold) const
    {
        return !hold.unpacked
            && (!hold.released
                || m_run.steps->phaseAt(std::min(hold.released->event, m_deep.endEvent - 1))
                    != Phase::Backward);
    }
    /// All that goes at once is of one such branch, and is needed for as long as any of it is used.
    void findDeadBranches()
    {
        std::map<EventIndex, DeepMoment> ofBranches; // by where it goes: the last use
        const auto isOurs = [&](const StepOwners::Hold& hold) {
            return hold.block != StepOwners::kNoBlock && hold.block >= m_first && isOfDeadBranch(hold);
        };
        for (const StepOwners::Hold& hold : m_owners.holds)
            if (const auto used = m_owners.lastUses.find(hold.block);
                isOurs(hold) && used != m_owners.lastUses.end())
                ofBranches[goneAt(hold)] = std::max(ofBranches[goneAt(hold)], used->second);
        for (const StepOwners::Hold& hold : m_owners.holds)
            if (isOurs(hold))
                m_saved[hold.block] = std::max(m_saved[hold.block], ofBranches[goneAt(hold)]);
    }
    /// The last request before that, or before the same of the step before: between the same two all goes at
    /// once.
    [[nodiscard]] EventIndex goneAt(const StepOwners::Hold& hold) const
    {
        const EventIndex gone = hold.released ? hold.released->event : m_goesLater[hold.block - m_first];
        return gone == kNeverInStep.event ? gone : allocsBefore(m_trace, gone);
    }

    /// Where the program is, before each event of the step: the last event that shows it.
    void findPlaces()
    {
        EventIndex shown = -1;
        for (EventIndex event = m_deep.beginEvent; event < m_deep.endEvent; ++event) {
            if (!statementAt(event).empty())
                shown = event;
            m_shown.push_back(shown);
        }
    }

    /// Of blocks that outlive the step: whether the next one works with them, as this one does with those of
    /// the step before.
    void findLaterUses()
    {
        const AlignedStep* before = nullptr;
        const std::vector<AlignedStep> steps
            = alignSteps(m_trace, *m_run.steps, m_deep.beginEvent, m_deep.endEvent);
        for (const AlignedStep& step : steps) {
            if (step.blockOf(m_first) == m_first)
                break;
            before = &step;
        }
        m_usedLater.assign(m_end - m_first, true); // where nothing tells
        m_goesLater.assign(m_end - m_first, kNeverInStep.event);
        for (std::uint32_t block = m_first; before != nullptr && block < m_end; ++block)
            if (const std::uint32_t earlier = before->blockOf(block); earlier != AlignedStep::kNone) {
                m_usedLater[block - m_first] = m_owners.lastUses.contains(earlier);
                m_goesLater[block - m_first] = recordedDeath(m_trace, earlier).event;
            }
    }

    [[nodiscard]] const Statement& statementAt(EventIndex event)
    {
        return m_statements.of(
            event < 0 ? StackId() : m_trace.events().stack[static_cast<std::size_t>(event)]);
    }
    /// The last event before that one, of the step, that shows where the program is; below 0: none.
    [[nodiscard]] EventIndex shownBefore(EventIndex event) const
    {
        const EventIndex row = std::min(event, m_deep.endEvent) - 1 - m_deep.beginEvent;
        return row < 0 ? -1 : m_shown[static_cast<std::size_t>(row)];
    }

    void free(std::uint32_t block, StepEdits& edits)
    {
        const auto used = m_owners.lastUses.find(block);
        if (used == m_owners.lastUses.end() || m_owners.casts.contains(block)) // autocast has these
            return;
        const DeepMoment recorded = recordedDeath(m_trace, block);
        DeepMoment needed{}; // by others than the program
        if (const auto saved = m_saved.find(block); saved != m_saved.end())
            needed = saved->second;
        if (isGradient(block)) // the optimizer has it until its step ends
            needed = std::max(needed, DeepMoment{ m_deep.endEvent, 0 });
        DeepMoment dies = std::max(used->second, needed);
        if (!isSooner(dies, recorded) || (recorded.event >= m_deep.endEvent && m_usedLater[block - m_first]))
            return;
        const bool stays = recorded == kNeverInStep;
        const Statement letGo = stays ? Statement() : statementAt(recorded.event);
        if (!stays && letGo.empty())
            return; // not the program does
        const Statement uses = statementAt(shownBefore(used->second.event));
        if (!uses.empty()) {
            const std::size_t same = stays ? uses.size() - 1 : sameFrames(uses, letGo);
            const std::span all(uses);
            dies = std::max(dies,
                same == uses.size() ? leaves(all, used->second) // maybe to come back there in the next step
                                    : endOfStatement(all.last(same + 1), block, used->second));
            if (!isSooner(dies, recorded))
                return; // within the statement that uses it last
        }
        edits.changes.push_back({ block, dies, BlockRule::Freed });
        tell(block, dies, recorded,
            isGradient(block)    ? "optimizer"
                : needed == dies ? "backward"
                                 : m_statements.label(uses),
            m_statements.label(letGo));
    }

    /// Between the same two allocations it is all the same.
    [[nodiscard]] bool isSooner(const DeepMoment& dies, const DeepMoment& recorded) const
    {
        return dies < recorded
            && (recorded == kNeverInStep
                || allocsBefore(m_trace, dies.event) != allocsBefore(m_trace, recorded.event));
    }

    [[nodiscard]] bool isGradient(std::uint32_t block) const
    {
        return m_run.categories != nullptr
            && m_run.categories->of(BlockId::born(block)).category == Category::Gradient;
    }

    /// How many frames, from the outermost on, are the same with the same lines.
    static std::size_t sameFrames(std::span<const FrameId> a, std::span<const FrameId> b)
    {
        const auto ends = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
        return static_cast<std::size_t>(ends.first - a.rbegin());
    }

    /// The frame that lets go is the innermost of `holder`: what it has by a name it has until its statement
    /// ends. What is asked for within the same statement it has by no name, but in something else.
    [[nodiscard]] DeepMoment endOfStatement(
        std::span<const FrameId> holder, std::uint32_t block, const DeepMoment& from)
    {
        if (isWithin(m_trace.blocks().birth(BlockId::born(block)), holder))
            return from;
        return leaves(holder, from);
    }

    [[nodiscard]] bool isWithin(EventIndex event, std::span<const FrameId> holder)
    {
        return sameFrames(statementAt(event), holder) == holder.size();
    }

    /// Where the program is seen elsewhere for the first time.
    [[nodiscard]] DeepMoment leaves(std::span<const FrameId> holder, const DeepMoment& from)
    {
        for (EventIndex event = from.event; event < m_deep.endEvent; ++event)
            if (shownBefore(event + 1) == event && !isWithin(event, holder))
                return { event, 0 };
        return { m_deep.endEvent, 0 };
    }

    void tell(std::uint32_t row, const DeepMoment& dies, const DeepMoment& recorded, std::string lastUse,
        std::string letGo)
    {
        const BlockId block = BlockId::born(row);
        const FrameId asks = userFrame(m_trace.recording(), m_trace.blocks().stack[block]);
        HeldLine line;
        line.line = asks.valid() ? frameLabel(m_trace.recording(), asks) : std::string(kNoStackLabel);
        line.lastUse = std::move(lastUse);
        line.letGo = std::move(letGo);
        HeldLine& all = m_held.try_emplace({ line.line, line.lastUse, line.letGo }, line).first->second;
        ++all.blocks;
        all.bytes += m_trace.blocks().requestedBytes[block];
        const EventColumns& events = m_trace.events();
        if (events.hasTimes() && recorded != kNeverInStep && dies.event > 0) {
            const auto ns = static_cast<std::int64_t>(events.timeNs[static_cast<std::size_t>(recorded.event)]
                - events.timeNs[static_cast<std::size_t>(dies.event - 1)]);
            all.heldNs = std::max(all.heldNs.value_or(0), ns);
        }
    }

    const RecordedRun& m_run;
    const DeviceTrace& m_trace;
    const DeepStep& m_deep;
    const StepOwners& m_owners;
    Statements m_statements;
    std::uint32_t m_first, m_end; // rows of blocks that are born in the step
    std::map<std::uint32_t, DeepMoment> m_saved; // by block, until when backward needs it
    std::vector<EventIndex> m_shown; // by event of the step
    std::vector<bool> m_usedLater; // by row from the first
    std::vector<EventIndex> m_goesLater; // likewise, where that of the step before goes
    std::map<std::tuple<std::string, std::string, std::string>, HeldLine> m_held;
};

} // namespace

Result<FreedTensors> FreedTensors::of(const RecordedRun& run, const std::vector<FreedPlace>& places)
{
    const auto step = ownedDeepStep(*run.trace);
    if (!step)
        return Failure(step.error());
    std::vector<bool> chosen;
    bool all = false;
    for (const FreedPlace& place : places) {
        all = all || place.site.empty();
        if (place.site.empty())
            continue;
        const auto site = blocksOfSite(run, place.site);
        if (!site)
            return Failure(site.error());
        chosen.resize(site->born.size());
        for (std::size_t row = 0; row < chosen.size(); ++row)
            chosen[row] = chosen[row] || site->born[row] == SiteBlocks::Is::There;
    }
    return Freeing(run, *step->deep, step->owners).freed(all ? std::vector<bool>() : chosen);
}

} // namespace strata::model
