// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/confirm.h"

#include "app/cli/dryrun/about.h"
#include "app/cli/dryrun/change.h"
#include "app/cli/dryrun/keep_recording.h"
#include "app/cli/dryrun/run.h"
#include "app/cli/whatif/confirm_doubts.h"
#include "app/launch/command.h"
#include "app/launch/libraries.h"
#include "app/launch/simulated_card.h"
#include "model/base/units.h"
#include "model/cards/catalogue.h"
#include "model/session/simulation.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/calls/calls_again.h"
#include "model/whatif/calls/python_changes.h"
#include "model/wire/info.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace strata::cli {

namespace {

using model::Confirmation;
using model::Error;
using model::PeakFigures;
using model::say;

/// What stands in a command for numbers that a change makes others.
constexpr std::string_view kBatch = "{BATCH}", kSequence = "{SEQUENCE}";
constexpr std::int64_t kRoom = std::int64_t{ 1 } << 42; // more than any card has

/// Of a program in C++, with a change that nobody makes there.
Error refusedInCpp(const model::Scenario& scenario)
{
    const model::Change& change = *std::ranges::find_if(scenario.changes, model::isMadeInPython);
    return { .kind = Error::Kind::Refused,
        .what = say("--change %1 is made in programs of Python alone, and this one is in C++", change.text),
        .hint = std::ranges::all_of(scenario.changes, model::isToldWithoutModules)
            ? say("leave out what stands behind --: --confirm alone makes the calls of a deep step again so")
            : model::hintToWriteByHand(),
        .where = {} };
}

std::string factOf(const model::Recording& recording, std::string_view key)
{
    const auto found = recording.facts.find(std::string(key));
    return found == recording.facts.end() ? std::string() : found->second;
}

std::optional<int> numberOf(const std::string& text)
{
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                     : std::nullopt;
}

/// The card that the recording is of, by its name in the catalogue.
model::Result<std::string> cardOf(const ConfirmAsked& asked)
{
    if (!asked.card.empty()) {
        const auto card = launch::cardNamed("--card", asked.card);
        if (!card)
            return model::Failure(card.error());
        return (*card)->name;
    }
    const model::DeviceTrace& trace = *asked.devices.front().trace;
    const model::Recording& recording = trace.recording();
    if (const auto simulation = model::simulationOf(recording);
        simulation && model::findCard(simulation->device) != nullptr)
        return simulation->device;
    const std::string product
        = factOf(recording, wire::deviceKey(wire::info::kDevice, trace.device(), wire::info::kDeviceName));
    if (const model::Card* card = model::cardOfDevice(product, asked.capacityBytes.value_or(0)))
        return card->name;
    return model::fail(Error::Kind::Usage,
        product.empty() ? say("--confirm: the recording does not tell its card")
                        : say("--confirm: the catalogue has no %1, the card of the recording", product),
        say("how much a library asks for depends on it; say which one to take, as --card A100-80GB"));
}

/// What a run has in their places; none: that stands nowhere.
struct RunSizes {
    std::optional<std::int64_t> items, length;
};

bool has(const std::vector<std::string>& command, std::string_view place)
{
    return std::ranges::any_of(
        command, [&](const std::string& word) { return word.find(place) != word.npos; });
}

std::vector<std::string> withSizes(std::vector<std::string> command, const RunSizes& sizes)
{
    const auto put = [&](std::string_view place, std::optional<std::int64_t> number) {
        for (std::string& word : command)
            for (std::size_t at = 0; number && (at = word.find(place, at)) != word.npos;)
                word.replace(at, place.size(), std::to_string(*number));
    };
    put(kBatch, sizes.items);
    put(kSequence, sizes.length);
    return command;
}

model::Result<void> checkSizes(const ConfirmAsked& asked)
{
    if (asked.batchAfter && asked.batchAfter != asked.batchBefore && !has(asked.command, kBatch))
        return model::fail(Error::Kind::Usage,
            say("--confirm: the command does not say where the items of the batch stand"),
            say("write {BATCH} there, as in -- python train.py --batch {BATCH}"));
    if (has(asked.command, kBatch) && !asked.batchBefore)
        return model::fail(Error::Kind::Usage,
            say("--confirm: {BATCH} stands for a number that is not known"),
            say("say how many items the recorded batch has, as --batch-of 8"));
    if (asked.sequenceAfter && asked.sequenceAfter != asked.sequenceBefore && !has(asked.command, kSequence))
        return model::fail(Error::Kind::Usage,
            say("--confirm: the command does not say where the length of its sequences stands"),
            say("write {SEQUENCE} there, as in -- python train.py --context {SEQUENCE}"));
    if (has(asked.command, kSequence) && !asked.sequenceBefore)
        return model::fail(Error::Kind::Usage,
            say("--confirm: {SEQUENCE} stands for a number that is not known"),
            say("say how long the recorded sequences are, as --sequence-of 512"));
    return {};
}

/// That of the rank that was recorded, else the one that reserved most on the device.
const dryrun::ProcessPeaks* processOf(const DryRun& run, int device, std::optional<int> rank)
{
    const dryrun::ProcessPeaks* most = nullptr;
    for (const dryrun::ProcessPeaks& process : run.processes) {
        if (device >= process.devices || (rank && process.rank != *rank && process.rank != -1))
            continue;
        if (most == nullptr || process.device[device].reservedPeak > most->device[device].reservedPeak)
            most = &process;
    }
    return most;
}

/// What keeps the run from being an answer.
model::Result<void> checkEnd(const DryRun& run, bool byCalls)
{
    if (run.interrupted())
        return model::fail(Error::Kind::Cancelled, say("--confirm: interrupted"));
    if (run.exitStatus != 0 && run.fits()) {
        const std::string status = fmt::format("exit status {}", run.exitStatus);
        if (byCalls)
            return model::fail(Error::Kind::Refused,
                say("its calls cannot be made so: %1", run.failure ? run.failure->what : status),
                run.failure && !run.failure->hint.empty() ? model::verbatim(run.failure->hint)
                                                          : model::hintToConfirm());
        return model::fail(Error::Kind::NotFound,
            say("--confirm: the program failed: %1",
                run.failure ? fmt::format("{}: {}", run.failure->kind, run.failure->what) : status),
            model::verbatim(hintFor(run)));
    }
    if (run.processes.empty())
        return model::fail(
            Error::Kind::NotFound, say("--confirm: the program used no GPU"), model::verbatim(hintFor(run)));
    return {};
}

/// The recording by which calls tell what follows the batch; none: no other batch is asked for.
model::Result<std::optional<model::CallsWith>> otherOf(const ConfirmAsked& asked)
{
    if (!asked.batchAfter || asked.batchAfter == asked.batchBefore)
        return std::nullopt;
    std::optional<model::Sentence> why; // the first that there might be does not tell
    for (const ConfirmAsked::Other& other : asked.others) {
        if (!other.items || other.items == asked.batchBefore)
            continue;
        if (const auto list = model::callListOf(*other.trace))
            return model::CallsWith{ other.trace, *list, other.firstStep, *other.items };
        else if (!why)
            why = list.error().what;
    }
    if (why)
        return model::fail(Error::Kind::Refused,
            say("of the recordings with another batch (--with): %1", *why),
            model::hintToConfirmOr(say("record one of them with a deep step: strata record --deep-step 3")));
    return model::fail(Error::Kind::Refused,
        say("calls of one recording do not tell which of their sizes follow the batch"),
        model::hintToConfirmOr(
            say("give a second one with a deep step and another batch, as --with FILE2 --batch-of 8,16")));
}

/// Runs of a program on cards of one kind.
class Runs {
public:
    Runs(const ConfirmAsked& asked, std::string card)
        : m_asked(asked)
    {
        const model::Recording& recording = asked.devices.front().trace->recording();
        m_options.device = std::move(card);
        for (const ConfirmAsked::Device& device : asked.devices)
            m_options.devices = std::max(m_options.devices, device.trace->device() + 1);
        for (const model::DeviceRecording& device : recording.devices) // of which some are asked about
            if (!asked.command.empty())
                m_options.devices = std::max(m_options.devices, device.device + 1);
        m_options.steps = asked.steps;
        m_options.record = false;
        m_options.json = true; // what the program prints goes to stderr
        if (m_asked.command.empty())
            if (auto other = otherOf(m_asked))
                m_calls.with = *std::move(other);
        m_calls.stepWithin = asked.devices.front().stepWithin;
        m_rank = numberOf(factOf(recording, wire::info::kRank));
        const auto ranks = numberOf(factOf(recording, wire::info::kWorldSize));
        if (m_rank && ranks && *ranks > 1) {
            m_options.rank = m_rank;
            m_options.worldSize = *ranks;
        }
    }

    /// Of the next runs, the recording is kept there; empty: nowhere.
    void keepIn(std::string output)
    {
        m_options.output = std::move(output);
        m_options.record = !m_options.output.empty();
    }

    /// Figures of each device; where memory runs out, of cards with more.
    model::Result<std::vector<PeakFigures>> peaks(const model::Scenario& scenario, const RunSizes& sizes,
        std::optional<std::int64_t> capacityBytes, bool& runsOut)
    {
        m_calls.itemsBefore = m_asked.batchBefore.value_or(0);
        m_calls.itemsAfter = sizes.items.value_or(m_calls.itemsBefore);
        if (const auto learnt = learn(scenario); !learnt)
            return model::Failure(learnt.error());
        auto came = run(scenario, sizes, capacityBytes);
        if (!came)
            return model::Failure(came.error());
        runsOut = !came->fits();
        if (runsOut) {
            std::fputs(
                "strata: it ran out of memory: once more with room for all that it asks for\n", stderr);
            came = run(scenario, sizes, kRoom);
            if (!came)
                return model::Failure(came.error());
        }
        std::vector<PeakFigures> peaks;
        for (const ConfirmAsked::Device& device : m_asked.devices) {
            const int number = device.trace->device();
            const dryrun::ProcessPeaks* const process = processOf(*came, number, m_rank);
            if (process == nullptr)
                return model::fail(Error::Kind::NotFound,
                    say("--confirm: no process of the program used GPU %1, as the recorded one did", number),
                    say("give the command that was recorded"));
            const dryrun::DevicePeaks& of = process->device[number];
            peaks.push_back({ of.requestedPeak, of.allocatedPeak, of.reservedPeak });
        }
        return peaks;
    }

    /// Bytes that came and went before the training, and of which it is not known what they are with the
    /// change.
    [[nodiscard]] std::int64_t otherBytes() const { return m_calls.learnt.otherBytes; }

    /// Figures of the same calls, where whoever may still have a tensor has it; none: that is always known.
    model::Result<std::optional<std::vector<PeakFigures>>> latePeaks(
        const model::Scenario& scenario, const RunSizes& sizes, std::optional<std::int64_t> capacityBytes)
    {
        if (!m_calls.learnt.hasCasts)
            return std::nullopt;
        model::CallsAsked calls = m_calls;
        calls.late = true;
        return peaksOf(std::move(calls), scenario, sizes, capacityBytes);
    }

    /// The same, where tensors that are made in a type by name are of the new one, as if it were that of
    /// another tensor; none: there are no such, or the calls cannot be made so.
    model::Result<std::optional<std::vector<PeakFigures>>> otherTypedPeaks(
        const model::Scenario& scenario, const RunSizes& sizes, std::optional<std::int64_t> capacityBytes)
    {
        if (m_calls.learnt.open.empty())
            return std::nullopt;
        model::CallsAsked calls = m_calls;
        std::ranges::copy(calls.learnt.open, std::back_inserter(calls.learnt.follow));
        auto came = peaksOf(std::move(calls), scenario, sizes, capacityBytes);
        return !came && came.error().kind == Error::Kind::Refused ? std::nullopt : std::move(came);
    }

private:
    /// With the calls otherwise, once.
    model::Result<std::optional<std::vector<PeakFigures>>> peaksOf(model::CallsAsked calls,
        const model::Scenario& scenario, const RunSizes& sizes, std::optional<std::int64_t> capacityBytes)
    {
        std::swap(m_calls, calls);
        bool runsOut = false;
        auto came = peaks(scenario, sizes, capacityBytes, runsOut);
        std::swap(m_calls, calls);
        if (!came)
            return model::Failure(came.error());
        return *std::move(came);
    }

    /// Where types change, a trial of the calls tells first what the recording does not.
    model::Result<void> learn(const model::Scenario& scenario)
    {
        if (!m_asked.command.empty())
            return {};
        std::vector<std::string> texts = model::changeTexts(scenario.changes);
        if (texts == m_learntOf)
            return {};
        m_calls.learnt = {};
        if (!model::anyDoes(scenario.changes, model::Does::Types)) {
            m_learntOf = std::move(texts);
            return {};
        }
        const ScratchFolder told;
        m_calls.trial = (told.path() / "told.json").string();
        const auto came = run(scenario, {}, kRoom);
        auto learnt = came ? model::callsLearnt(m_calls.trial) : model::Failure(came.error());
        m_calls.trial.clear();
        if (!learnt)
            return model::Failure(learnt.error());
        m_calls.learnt = *std::move(learnt);
        m_learntOf = std::move(texts);
        return {};
    }

    model::Result<DryRun> run(const model::Scenario& scenario, const RunSizes& sizes,
        std::optional<std::int64_t> capacityBytes) const
    {
        DryRunOptions options = m_options;
        const ScratchFolder calls;
        if (m_asked.command.empty()) {
            auto command = callsCommand(scenario, calls.path());
            if (!command)
                return model::Failure(command.error());
            options.command = *std::move(command);
        } else
            options.command = withSizes(m_asked.command, sizes);
        options.capacityBytes = capacityBytes;
        options.allocatorSettings = scenario.settings ? *scenario.settings : m_asked.settings;
        for (const model::Change& change : scenario.changes)
            if (model::isMadeInPython(change) && !m_asked.command.empty())
                options.changes.push_back(change.text);
        for (const std::string& change : options.changes)
            if (const auto checked = checkChange(change); !checked)
                return model::Failure(checked.error());
        const ScratchFolder scratch;
        auto came = runDry(options, scratch);
        if (!came)
            return came;
        if (const auto ended = checkEnd(*came, m_asked.command.empty()); !ended)
            return model::Failure(ended.error());
        if (!options.changes.empty() && !came->processes.empty() && !came->ranPython())
            return model::Failure(refusedInCpp(scenario));
        if (const std::string note = changesNote(options, *came); !options.changes.empty() && !note.empty())
            return model::fail(Error::Kind::NotFound, model::verbatim(note));
        if (!m_options.output.empty() && m_calls.trial.empty())
            if (const auto kept = keepRecording(came->recording, m_options.output); !kept)
                return model::Failure(kept.error());
        return came;
    }

    /// What makes the calls again, of a document in that folder.
    [[nodiscard]] model::Result<std::vector<std::string>> callsCommand(
        const model::Scenario& scenario, const std::filesystem::path& folder) const
    {
        const model::DeviceTrace& trace = *m_asked.devices.front().trace;
        const auto list = model::callListOf(trace);
        if (!list)
            return model::Failure(list.error());
        const ConfirmAsked::Device& asked = m_asked.devices.front();
        const auto document = model::callsToRun(trace, **list, scenario.changes, asked.firstStep, m_calls);
        if (!document)
            return model::Failure(document.error());
        const auto script = launch::libraryAt("replay_calls.py");
        if (!script)
            return model::Failure(script.error());
        const std::filesystem::path path = folder / "calls.json";
        std::ofstream file(path, std::ios::binary);
        file << *document;
        if (!file.flush())
            return model::fail(Error::Kind::NotFound, say("--confirm: %1 cannot be written", path.string()));
        return std::vector{ m_asked.python, script->string(), path.string() };
    }

    const ConfirmAsked& m_asked;
    std::optional<int> m_rank;
    DryRunOptions m_options;
    model::CallsAsked m_calls; ///< so far
    std::vector<std::string> m_learntOf; ///< changes that the trial was made with; empty: none was
};

/// "2.15" of "2.15.0+cu130".
std::string minorOf(const std::string& version)
{
    const std::size_t first = version.find('.');
    return first == version.npos ? version : version.substr(0, version.find('.', first + 1));
}

/// The Python whose torch makes the calls has that of the recording, but for what a patch changes.
model::Result<void> checkPython(const ConfirmAsked& asked)
{
    const std::string recorded = factOf(asked.devices.front().trace->recording(), wire::info::kTorch);
    const auto command = launch::findCommand({ asked.python });
    if (!command)
        return model::Failure(command.error());
    const std::string here = command->torch ? command->torch->version : std::string();
    if (!recorded.empty() && minorOf(here) == minorOf(recorded))
        return {};
    const std::string plain = recorded.substr(0, recorded.find('+'));
    return model::fail(Error::Kind::Usage,
        here.empty()
            ? say("--confirm: %1 has no PyTorch to make the calls with", asked.python)
            : say("--confirm: %1 has PyTorch %2, and the calls are of %3", asked.python, here, recorded),
        model::hintToConfirmOr(
            say("install it in an environment, as in python3 -m venv t && t/bin/pip install torch==%1, and "
                "give --python t/bin/python",
                plain)));
}

/// Refused: what calls do not tell, before any are made.
model::Result<void> checkCalls(const model::DeviceTrace& trace, const model::Scenario& scenario)
{
    const bool isCpp = model::changeOfPython(trace, scenario) != nullptr;
    for (const model::Change& change : scenario.changes)
        if (!model::isToldByCalls(change))
            return model::fail(Error::Kind::Refused,
                say("calls do not tell what --change %1 comes to", change.text), model::hintToConfirm());
        else if (isCpp && !model::isToldWithoutModules(change))
            return model::fail(Error::Kind::Refused,
                say("calls of a program in C++ do not tell what --change %1 comes to: they tell of no "
                    "modules",
                    change.text),
                model::hintToWriteByHand());
    return {};
}

/// Whether a run can tell it, before any is made.
model::Result<void> canConfirm(const ConfirmAsked& asked, const model::Scenario& scenario)
{
    const model::DeviceTrace& trace = *asked.devices.front().trace;
    if (asked.command.empty())
        return checkCalls(trace, scenario);
    if (model::changeOfPython(trace, scenario) != nullptr)
        return model::Failure(refusedInCpp(scenario));
    return {};
}

} // namespace

struct Confirming::Parts {
    Parts(const ConfirmAsked& of, std::string card)
        : asked(of)
        , runs(asked, std::move(card))
    {
    }

    ConfirmAsked asked;
    Runs runs; // of `asked`
    std::vector<PeakFigures> unchanged;
};

Confirming::Confirming(std::unique_ptr<Parts> parts)
    : m_parts(std::move(parts))
{
}

Confirming::~Confirming() = default;
Confirming::Confirming(Confirming&&) noexcept = default;

model::Result<Confirming> Confirming::of(const ConfirmAsked& asked)
{
    const bool byCalls = asked.command.empty();
    const model::DeviceTrace& trace = *asked.devices.front().trace;
    if (const auto list = byCalls ? model::callListOf(trace) : model::Result<const model::CallList*>(nullptr);
        !list)
        return model::Failure(list.error());
    if (const auto checked = byCalls ? checkPython(asked) : checkSizes(asked); !checked)
        return model::Failure(checked.error());
    if (byCalls && asked.devices.size() > 1)
        return model::fail(Error::Kind::Usage, say("--confirm: calls are those of one GPU"),
            say("say of which, with --device"));
    if (const auto other = byCalls ? otherOf(asked) : std::nullopt; !other)
        return model::Failure(other.error());
    auto card = cardOf(asked);
    if (!card)
        return model::Failure(card.error());
    auto parts = std::make_unique<Parts>(asked, *std::move(card));
    std::fputs(
        byCalls ? "strata: the calls as they were recorded\n" : "strata: the program as it was recorded\n",
        stderr);
    bool runsOut = false;
    auto unchanged
        = parts->runs.peaks({}, { asked.batchBefore, asked.sequenceBefore }, asked.capacityBytes, runsOut);
    if (!unchanged)
        return model::Failure(unchanged.error());
    parts->unchanged = *std::move(unchanged);
    return Confirming(std::move(parts));
}

model::Result<std::vector<Confirmation>> Confirming::with(const model::Scenario& scenario)
{
    const ConfirmAsked& asked = m_parts->asked;
    Runs& runs = m_parts->runs;
    const std::vector<PeakFigures>& unchanged = m_parts->unchanged;
    const bool byCalls = asked.command.empty();
    if (const auto can = canConfirm(asked, scenario); !can)
        return model::Failure(can.error());
    bool changedRunsOut = false;
    const RunSizes after{ asked.batchAfter ? asked.batchAfter : asked.batchBefore,
        asked.sequenceAfter ? asked.sequenceAfter : asked.sequenceBefore };
    runs.keepIn(asked.output);
    const auto capacity = scenario.capacityBytes ? scenario.capacityBytes : asked.capacityBytes;
    const auto changed = runs.peaks(scenario, after, capacity, changedRunsOut);
    if (!changed)
        return model::Failure(changed.error());
    runs.keepIn({});
    const auto late = byCalls ? runs.latePeaks(scenario, after, capacity) : std::nullopt;
    if (!late)
        return model::Failure(late.error());
    const auto otherTyped = byCalls ? runs.otherTypedPeaks(scenario, after, capacity) : std::nullopt;
    if (!otherTyped)
        return model::Failure(otherTyped.error());
    std::vector<Confirmation> confirmed;
    for (std::size_t i = 0; i < asked.devices.size(); ++i)
        confirmed.push_back({ .unchanged = unchanged[i],
            .changed = (*changed)[i],
            .byCalls = byCalls,
            .isConfirmed = !byCalls || isConfirmedBy(asked.devices[i].recorded, unchanged[i]),
            .isRequestedConfirmed
            = !byCalls || isRequestedConfirmedBy(asked.devices[i].recorded, unchanged[i]),
            .runsOutOfMemory = changedRunsOut,
            .note = noteOf(asked, asked.devices[i], unchanged[i]) });
    if (*late)
        holdAgainst(**late, std::numeric_limits<double>::infinity(),
            "how long the program has tensors that it casts itself", confirmed);
    if (*otherTyped) // as a mask that is in float32 because the program says so, or because its input was
        holdAgainst(**otherTyped, kMostReservedOff,
            "whether tensors that the program makes in a type by name are of the new type, too", confirmed);
    holdAgainst(runs.otherBytes(), confirmed);
    return confirmed;
}

model::Result<std::vector<Confirmation>> confirm(const ConfirmAsked& asked, const model::Scenario& scenario)
{
    if (const auto can = canConfirm(asked, scenario); !can) // else it would run twice to say so
        return model::Failure(can.error());
    auto confirming = Confirming::of(asked);
    if (!confirming)
        return model::Failure(confirming.error());
    std::fputs(asked.command.empty() ? "strata: the calls with the change\n"
                                     : "strata: the program with the change\n",
        stderr);
    return confirming->with(scenario);
}

} // namespace strata::cli
