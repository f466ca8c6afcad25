// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/recorded_optimizers.h"

#include "model/analysis/training/roles/listed_tensors.h"
#include "model/trace/frames.h"
#include "model/trace/program/roles.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

Failure refuse(Sentence what, Sentence hint = say("record the program with that optimizer"))
{
    return fail(Error::Kind::Refused, std::move(what), std::move(hint));
}

/// Bytes of an element; 0: of a type that no template was tried with.
std::int64_t itemBytes(std::string_view type)
{
    static const std::map<std::string_view, std::int64_t> known{ { "float32", 4 }, { "float64", 8 },
        { "bfloat16", 2 }, { "float16", 2 } };
    const auto found = known.find(type);
    return found == known.end() ? 0 : found->second;
}

constexpr std::int64_t kMostParameterElements = std::int64_t{ 1 } << 48; // of a parameter: sums of them fit
constexpr std::size_t kMostUpdates = 4 << 20; // steps times parameters: what they do is held in memory

/// What listings tell of one optimizer, as they are read.
struct Told {
    RecordedOptimizer optimizer;
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> rows; // name -> parameter
    boost::unordered_flat_map<std::uint32_t, std::uint64_t> gradients; // name -> address, 0: none
    std::vector<StringId> names; // of parameters
    std::size_t standing = 0; // parameters that are not gone
    std::vector<bool> stands;
};

class Reader {
public:
    explicit Reader(const RecordedRun& run)
        : m_trace(*run.trace)
        , m_recording(run.trace->recording())
        , m_steps(*run.steps)
        , m_categories(*run.categories)
        , m_rows(RoleListings::of(m_recording, run.trace->device()))
    {
        const EventColumns& events = m_trace.events();
        for (std::size_t event = 0; event < events.action.size(); ++event)
            if (events.action[event] == Action::Alloc)
                m_allocs.push_back(static_cast<EventIndex>(event));
    }

    Result<RecordedOptimizers> read()
    {
        if (const auto able = checkProgram(); !able)
            return Failure(able.error());
        std::vector<std::uint32_t> order(m_rows.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, {}, [&](std::uint32_t row) { return m_rows[row].event; });
        for (const std::uint32_t row : order)
            if (m_rows[row].optimizer != RoleListing::kNoOptimizer)
                if (const auto taken = take(m_rows[row]); !taken)
                    return Failure(taken.error());
        RecordedOptimizers found;
        for (auto& [number, told] : m_told)
            if (!told.optimizer.steps.empty()) {
                m_owners.emplace(number, static_cast<std::uint32_t>(found.all.size()));
                told.optimizer.names = std::move(told.names);
                found.all.push_back(std::move(told.optimizer));
            }
        if (found.all.empty() || m_allocs.empty())
            return refuse(say("the recording does not tell which parameters an optimizer has"),
                hintToTellParameters(m_recording));
        findOwners(found);
        place(found);
        return found;
    }

private:
    [[nodiscard]] Result<void> checkProgram() const
    {
        const auto sharded = [](std::string_view file) {
            return file.find("torch/distributed/fsdp") != file.npos
                || file.find("torch/distributed/_composable/fsdp") != file.npos
                || file.find("zero_redundancy_optimizer") != file.npos
                || file.find("deepspeed/runtime/zero") != file.npos;
        };
        bool shards = std::ranges::any_of(m_recording.annotations, [&](const Annotation& annotation) {
            return m_recording.strings[annotation.name].starts_with("FSDP::");
        });
        for (std::size_t row = 0; row < m_recording.stacks.frameCount() && !shards; ++row)
            shards = sharded(
                m_recording.strings[m_recording.stacks.frame({ static_cast<std::uint32_t>(row) }).file]);
        if (shards)
            return refuse(say("parameters or states are sharded over ranks: what another optimizer would do "
                              "with the shards is not known"));
        const bool ranges = std::ranges::any_of(m_recording.annotations, [&](const Annotation& annotation) {
            return m_recording.strings[annotation.name].starts_with("Optimizer.step#");
        });
        if (RoleListings::tellTensors(m_recording, m_trace.device()) && !ranges)
            return refuse(say("the recording does not tell where a step of the optimizer begins"),
                say("record the program with strata record"));
        return {};
    }

    Result<void> take(const RoleListing& row)
    {
        Told& told = m_told[row.optimizer];
        told.optimizer.number = row.optimizer;
        switch (row.kind) {
        case Kind::Parameter:
            return takeParameter(told, row);
        case Kind::Gradient:
            if (row.part.valid())
                return refuse(say("gradients of %1 are sparse: what an optimizer does with them is not known",
                    m_recording.strings[row.name]));
            told.gradients[row.name.value] = row.address;
            return {};
        case Kind::Stepped:
            return takeStep(told, row);
        default:
            return {};
        }
    }

    Result<void> takeParameter(Told& told, const RoleListing& row)
    {
        const auto [known, added]
            = told.rows.emplace(row.name.value, static_cast<std::uint32_t>(told.names.size()));
        const std::uint32_t index = known->second;
        if (added) {
            told.names.push_back(row.name);
            told.stands.push_back(false);
            told.optimizer.parameters.emplace_back();
        }
        const bool stands = row.address != 0;
        told.standing += stands && !told.stands[index] ? 1 : 0;
        told.standing -= !stands && told.stands[index] ? 1 : 0;
        told.stands[index] = stands;
        if (!stands) {
            if (told.standing == 0)
                told.optimizer.gone = std::clamp<EventIndex>(row.event, 0, m_trace.eventCount());
            return {};
        }
        told.optimizer.gone = -1;
        if (row.part.valid())
            return refuse(say("%1 is made of several tensors: what an optimizer does with them is not known",
                m_recording.strings[row.name]));
        const std::int64_t bytes = itemBytes(m_recording.strings[row.dtype]);
        if (bytes == 0)
            return refuse(say("%1 is of type %2, with which no template was tried",
                m_recording.strings[row.name], m_recording.strings[row.dtype]));
        if (row.elements < 0 || row.elements > kMostParameterElements)
            return refuse(say("the size of %1 is beyond all measure", m_recording.strings[row.name]));
        told.optimizer.parameters[index] = { row.elements, row.elements * bytes, row.dtype.value };
        return {};
    }

    Result<void> takeStep(Told& told, const RoleListing& row)
    {
        told.optimizer.name = m_recording.strings[row.name];
        if (told.optimizer.name == "LBFGS")
            return refuse(say("the recorded optimizer, LBFGS, calls forward and backward within its step: "
                              "what is whose is not known"));
        if (told.optimizer.name == "ZeroRedundancyOptimizer")
            return refuse(say("states are sharded over ranks: what another optimizer would do with the "
                              "shards is not known"));
        RecordedOptimizer::Step step;
        step.end = std::clamp<EventIndex>(row.event, 0, m_trace.eventCount());
        step.begin = beginOf(step.end);
        if (isAmidBackward(step))
            return refuse(say("the optimizer steps within backward, as gradients come: what another one "
                              "would do there is not known"));
        m_updates += told.names.size() + 1;
        if (m_updates > kMostUpdates)
            return refuse(say("the recording has more steps of optimizers than can be told apart"),
                say("record fewer steps: the first ones tell the peak"));
        for (std::size_t index = 0; index < told.names.size(); ++index)
            if (const auto gradient = told.gradients.find(told.names[index].value);
                told.stands[index] && gradient != told.gradients.end() && gradient->second != 0)
                step.having.push_back(static_cast<std::uint32_t>(index));
        m_lastEnd = std::max(m_lastEnd, step.end);
        told.optimizer.steps.push_back(std::move(step));
        return {};
    }

    /// Backward asked for the last block before it, and for the first one behind it.
    [[nodiscard]] bool isAmidBackward(const RecordedOptimizer::Step& step) const
    {
        const auto behind = std::ranges::lower_bound(m_allocs, step.end);
        const auto before = std::ranges::lower_bound(m_allocs, step.begin);
        return before != m_allocs.begin() && behind != m_allocs.end()
            && m_steps.phaseAt(*(before - 1)) == Phase::Backward
            && m_steps.phaseAt(*behind) == Phase::Backward;
    }

    /// The first event of the optimizer that was done before the event `end`.
    [[nodiscard]] EventIndex beginOf(EventIndex end) const
    {
        const TrainingStep* const step = end > 0 ? m_steps.at(end - 1) : nullptr;
        if (step == nullptr)
            return end;
        const auto span
            = std::ranges::find_if(step->phases, [&](const PhaseSpan& each) { return each.last >= end - 1; });
        if (span == step->phases.end() || span->phase != Phase::Optimizer)
            return end;
        return std::min(std::max(span->first, m_lastEnd), end);
    }

    /// What is born within a step, by the thread that did most of it, and what is listed as state.
    void findOwners(RecordedOptimizers& found) const
    {
        const BlockColumns& blocks = m_trace.blocks();
        const EventColumns& events = m_trace.events();
        found.owners.assign(blocks.bornCount(), RecordedOptimizers::kNone);
        for (std::uint32_t owner = 0; owner < found.all.size(); ++owner)
            for (const RecordedOptimizer::Step& step : found.all[owner].steps) {
                std::map<ThreadIndex, int> threads;
                const auto forEachBorn = [&](const auto& call) {
                    for (auto event = static_cast<std::size_t>(step.begin);
                         event < static_cast<std::size_t>(step.end); ++event)
                        if (const BlockId block = events.block[event];
                            events.action[event] == Action::Alloc && blocks.contains(block))
                            call(block, events.threadOf(event));
                };
                forEachBorn([&](BlockId, ThreadIndex thread) { ++threads[thread]; });
                if (threads.empty())
                    continue;
                const ThreadIndex most = std::ranges::max_element(threads, {}, [](const auto& each) {
                    return each.second;
                })->first;
                forEachBorn([&](BlockId block, ThreadIndex thread) {
                    if (thread == most)
                        found.owners[block.row()] = owner;
                });
            }
        for (const ListedTensors::Placed& placed : m_categories.tensors().all()) {
            const RoleListing& listing = m_categories.tensors().listing(placed);
            const auto owner = m_owners.find(listing.optimizer);
            if (listing.kind == Kind::OptimizerState && owner != m_owners.end() && !placed.block.isOlder())
                found.owners[placed.block.row()] = owner->second;
        }
    }

    /// Where optimizers were made: before the states that they had before their first step, else behind the
    /// parameters and buffers that there were before the first forward.
    void place(RecordedOptimizers& found) const
    {
        const BlockColumns& blocks = m_trace.blocks();
        EventIndex firstForward = m_trace.eventCount();
        for (const TrainingStep& step : m_steps.steps)
            for (const PhaseSpan& span : step.phases)
                if (span.phase == Phase::Forward)
                    firstForward = std::min(firstForward, span.first);
        EventIndex behind = 0;
        for (const ListedTensors::Placed& placed : m_categories.tensors().all()) {
            const RoleListing& listing = m_categories.tensors().listing(placed);
            const EventIndex birth = blocks.birth(placed.block);
            if ((listing.kind == Kind::Parameter || listing.kind == Kind::Buffer) && birth < firstForward)
                behind = std::max(behind, birth + 1);
            const auto owner = m_owners.find(listing.optimizer);
            if (owner != m_owners.end() && listing.kind == Kind::Parameter && birth >= 0
                && found.all[owner->second].like < 0)
                found.all[owner->second].like = birth;
        }
        std::vector<EventIndex> firsts(found.all.size(), m_trace.eventCount()); // births of what is theirs
        for (std::size_t row = 0; row < found.owners.size(); ++row)
            if (const std::uint32_t owner = found.owners[row]; owner != RecordedOptimizers::kNone)
                firsts[owner] = std::min(firsts[owner], blocks.birth(BlockId::born(row)));
        for (std::size_t owner = 0; owner < found.all.size(); ++owner) {
            RecordedOptimizer& optimizer = found.all[owner];
            const EventIndex begin = optimizer.steps.front().begin;
            optimizer.made = std::min(firsts[owner] < begin ? firsts[owner] : behind, begin);
            if (optimizer.like < 0)
                optimizer.like = blocks.bornCount() > 0 ? blocks.birth(BlockId::born(0)) : 0;
        }
    }

    const DeviceTrace& m_trace;
    const Recording& m_recording;
    const TrainingSteps& m_steps;
    const Categories& m_categories;
    const RoleListings::Rows& m_rows;
    std::map<std::uint32_t, Told> m_told;
    std::vector<EventIndex> m_allocs;
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> m_owners; // number of an optimizer -> its row
    EventIndex m_lastEnd = 0;
    std::size_t m_updates = 0;
};

} // namespace

Result<RecordedOptimizers> recordedOptimizers(const RecordedRun& run)
{
    return Reader(run).read();
}

Sentence hintToTellParameters(const Recording& recording)
{
    if (isCppProgram(recording))
        return say(
            "a program in C++ says so itself: have it step its optimizer by strata::capture::Optimizer, "
            "of strata/capture_torch.h (capture/README.md), and record it again");
    return say("record the program with strata record, from its start");
}

} // namespace strata::model
