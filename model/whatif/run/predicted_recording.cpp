// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/predicted_recording.h"

#include "model/replay/event_pools.h"
#include "model/trace/program/allocator_calls.h"
#include "model/trace/program/roles.h"
#include "model/whatif/run/put_events.h"
#include "model/whatif/run/run_replay.h"
#include "model/wire/info.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace strata::model {

namespace {

constexpr const char* kSettingsKey = "PYTORCH_CUDA_ALLOC_CONF";

/// Where a block of the run lies in the prediction, and between which of its events it lives.
struct Place {
    std::uint64_t address = 0;
    EventIndex born = -1, died = std::numeric_limits<EventIndex>::max();
    StackId stack;
};

/// What the program would tell of the states of optimizers that were put in the place of its own.
class PutStates {
public:
    /// `put` nullptr: they are its own.
    PutStates(const PutOptimizers* put, const std::vector<Place>& places, StringTable& strings)
        : m_places(places)
        , m_strings(strings)
    {
        if (put != nullptr)
            for (const PutOptimizers::Optimizer& each : put->all)
                m_of.emplace(each.number, Told{ &each });
    }

    /// True: instead of the recorded listing others were appended, before that event of the prediction.
    bool replace(const RoleListing& recorded, EventIndex here, RoleListings::Rows& to)
    {
        const auto of = m_of.find(recorded.optimizer);
        if (of == m_of.end())
            return false;
        Told& told = of->second;
        if (recorded.kind == wire::RoleKind::OptimizerState)
            return true;
        if (recorded.kind == wire::RoleKind::Parameter && recorded.address == 0)
            forget(told, recorded.name, here, to);
        if (recorded.kind != wire::RoleKind::Stepped)
            return false;
        for (const auto& states = told.optimizer->states;
             told.next < states.size() && states[told.next].told <= recorded.event; ++told.next)
            if (const Place& place = m_places[states[told.next].block]; place.born >= 0 && place.born < here)
                to.push_back(listingOf(told, states[told.next], here, place.address));
        RoleListing stepped = recorded;
        stepped.event = here;
        stepped.name = m_strings.intern(told.optimizer->name);
        to.push_back(stepped);
        return true;
    }

private:
    struct Told {
        const PutOptimizers::Optimizer* optimizer;
        std::size_t next = 0; // of its states: those before it were told of
    };

    void forget(const Told& told, StringId parameter, EventIndex here, RoleListings::Rows& to)
    {
        for (std::size_t row = 0; row < told.next; ++row)
            if (const PutOptimizers::State& state = told.optimizer->states[row]; state.parameter == parameter)
                to.push_back(listingOf(told, state, here, 0));
    }

    RoleListing listingOf(
        const Told& told, const PutOptimizers::State& state, EventIndex here, std::uint64_t address)
    {
        RoleListing listing;
        listing.event = here;
        listing.kind = wire::RoleKind::OptimizerState;
        listing.address = address;
        listing.name = state.parameter;
        listing.part = m_strings.intern(state.part);
        listing.dtype = m_strings.intern(state.type);
        listing.elements = state.elements;
        listing.optimizer = told.optimizer->number;
        return listing;
    }

    std::map<std::uint32_t, Told> m_of; // by number
    const std::vector<Place>& m_places;
    StringTable& m_strings;
};

/// Writes what a replay told into a recording.
class PredictedWriter {
public:
    PredictedWriter(const DeviceTrace& recorded, const ProgramRun& run, const ToldRun& told, Recording& to)
        : m_recorded(recorded)
        , m_run(run)
        , m_told(told)
        , m_to(to)
    {
        for (const ProgramRun::Ask& ask : run.asks)
            if (ask.action == Action::Alloc && ask.block != ProgramRun::Ask::kNoBlock)
                m_blocks.push_back(ask.block);
        m_places.resize(run.blocks.size());
        if (run.optimizers)
            m_putEvents.emplace(*run.optimizers, recorded);
    }

    void writeEvents(DeviceRecording& device)
    {
        const EventColumns& like = m_recorded.events();
        EventColumns& events = device.events;
        events = {};
        for (const ReplayedEvents::Event& told : m_told.events.events) {
            const Circumstances during = circumstancesOf(told.during);
            const auto here = events.size();
            if (const auto block = blockOf(told.block)) {
                if (told.action == Action::Alloc)
                    m_places[*block] = { told.address, here, m_places[*block].died, during.stack };
                else if (told.action == Action::FreeCompleted)
                    m_places[*block].died = here;
            }
            events.action.push_back(told.action);
            events.address.push_back(told.address);
            events.bytes.push_back(
                told.action == Action::Alloc ? told.bytes : bytesOf(told.block).value_or(told.bytes));
            if (like.hasTimes())
                events.timeNs.push_back(during.timeNs);
            events.stack.push_back(during.stack);
            events.block.push_back({});
            events.stream.push_back(streamOf(told.stream));
            events.pool.push_back(poolOf(told.pool, SegmentKind::Unknown));
            events.tell(during.phase, during.thread, during.module);
        }
    }

    /// Segments with their blocks; of an expandable one each stretch that is mapped.
    void writeEnd(DeviceRecording& device)
    {
        std::vector<FinalSegment> segments;
        std::vector<FinalBlock> blocks;
        std::uint64_t end = 0, range = 0;
        for (const ReplayedEvents::Piece& piece : m_told.events.end) {
            if (segments.empty() || piece.address != end || piece.segment != range) {
                FinalSegment& segment = segments.emplace_back();
                segment.address = piece.address;
                segment.allocatedBytes = segment.activeBytes = segment.requestedBytes = 0;
                segment.firstBlock = static_cast<std::uint32_t>(blocks.size());
                segment.stream = streamOf(piece.stream);
                segment.pool = poolOf(piece.pool, piece.small ? SegmentKind::Small : SegmentKind::Large);
                segment.expandable = piece.expandable;
            }
            FinalSegment& segment = segments.back();
            segment.bytes += piece.bytes;
            ++segment.blockCount;
            FinalBlock& block = blocks.emplace_back();
            block.address = piece.address;
            block.bytes = piece.bytes;
            if (piece.allocated || piece.pending) {
                block.state = piece.allocated ? BlockState::Allocated : BlockState::PendingFree;
                block.requestedBytes = bytesOf(piece.block).value_or(piece.bytes);
                if (const auto of = blockOf(piece.block))
                    block.stack = m_places[*of].stack;
                segment.allocatedBytes += piece.allocated ? piece.bytes : 0;
                segment.activeBytes += piece.bytes;
                segment.requestedBytes += block.requestedBytes;
            }
            end = piece.address + static_cast<std::uint64_t>(piece.bytes);
            range = piece.segment;
        }
        device.finalSegments = std::move(segments);
        device.finalBlocks = std::move(blocks);
    }

    void writeCalls(const AllocatorCalls::Calls& calls, AllocatorCalls::Calls& to) const
    {
        for (std::size_t row = 0; row < calls.size(); ++row) {
            AllocatorCall call = calls[row];
            call.event = placeOf(call.event);
            if (call.event < ends() || isWhole())
                to.push_back(call);
        }
    }

    /// Tensors that the program told of, where their blocks lie now. After writeEvents().
    void writeListings(const RoleListings::Rows& listings, RoleListings::Rows& to)
    {
        PutStates states(m_run.optimizers.get(), m_places, m_to.strings);
        std::map<std::uint64_t, std::uint32_t> alive; // recorded blocks by address
        EventIndex event = 0;
        for (std::size_t row = 0; row < listings.size(); ++row) {
            RoleListing listing = listings[row];
            for (; event < std::min(listing.event, m_recorded.eventCount()); ++event)
                follow(event, alive);
            const EventIndex here = placeOf(listing.event);
            if (!isWhole() && here >= ends())
                break;
            if (states.replace(listing, here, to))
                continue;
            listing.event = here;
            if (listing.address != 0 && !move(listing, alive, here))
                continue;
            to.push_back(listing);
        }
    }

private:
    [[nodiscard]] EventIndex ends() const { return static_cast<EventIndex>(m_told.events.events.size()); }
    /// It does not end with a request that is refused.
    [[nodiscard]] bool isWhole() const
    {
        return m_told.events.events.empty() || m_told.events.events.back().action != Action::Oom;
    }

    [[nodiscard]] EventIndex recordedAt(EventIndex during) const
    {
        return m_told.run ? m_told.run->recordedAt(during) : during;
    }

    /// How the program was at when something happened.
    struct Circumstances {
        EventPhase phase = EventPhase::Unknown;
        StackId stack;
        ThreadIndex thread = kNoIndex;
        ModuleIndex module = kNoIndex;
        std::int64_t timeNs = 0;
    };
    [[nodiscard]] Circumstances circumstancesOf(EventIndex during) const
    {
        const EventColumns& like = m_recorded.events();
        const EventIndex recorded = recordedAt(during);
        if (m_putEvents && m_told.run) {
            const BlockId id = (*m_told.run->requests().block)[static_cast<std::size_t>(during)];
            const auto block = blockOf(id.value);
            if (block && m_putEvents->owns(*block)) {
                const PutEvents::Told told = m_putEvents->of(*block, recorded);
                return { told.phase, told.stack, told.thread, kNoIndex, told.timeNs };
            }
        }
        const auto row = static_cast<std::size_t>(recorded);
        return { like.phaseOf(row), like.stack[row], like.threadOf(row), like.moduleOf(row),
            like.hasTimes() ? like.timeNs[row] : 0 };
    }

    /// The event of the prediction before which stands what stood before the recorded one.
    [[nodiscard]] EventIndex placeOf(EventIndex recorded) const
    {
        const EventIndex during = m_told.run ? m_told.run->placeOf(recorded) : recorded;
        const auto& events = m_told.events.events;
        return std::ranges::lower_bound(events, during, {}, &ReplayedEvents::Event::during) - events.begin();
    }

    /// The block of the run that one of the replayed requests is.
    [[nodiscard]] std::optional<std::uint32_t> blockOf(std::int32_t told) const
    {
        const BlockId id{ told };
        if (told == ReplayedEvents::kNoBlock || !id.valid() || id.isOlder() || id.row() >= m_blocks.size())
            return std::nullopt;
        return m_blocks[id.row()];
    }

    [[nodiscard]] std::optional<std::int64_t> bytesOf(std::int32_t told) const
    {
        const auto block = blockOf(told);
        return block ? std::optional(m_run.blocks[*block].bytes) : std::nullopt;
    }

    StreamIndex streamOf(std::uint64_t stream)
    {
        return m_to.internStream(static_cast<std::int64_t>(stream));
    }

    PoolIndex poolOf(PoolOwner owner, SegmentKind kind)
    {
        if (owner.isDefault() && kind == SegmentKind::Unknown)
            return kNoIndex;
        return m_to.internPool({ owner.owner, owner.id, kind });
    }

    void follow(EventIndex event, std::map<std::uint64_t, std::uint32_t>& alive) const
    {
        const auto row = static_cast<std::size_t>(event);
        const BlockId block = m_recorded.events().block[row];
        if (!block.valid() || block.isOlder())
            return;
        if (m_recorded.events().action[row] == Action::Alloc)
            alive[m_recorded.events().address[row]] = static_cast<std::uint32_t>(block.row());
        else if (m_recorded.events().action[row] == Action::FreeCompleted)
            alive.erase(m_recorded.events().address[row]);
    }

    /// False: its block is not there.
    bool move(
        RoleListing& listing, const std::map<std::uint64_t, std::uint32_t>& alive, EventIndex here) const
    {
        auto found = alive.upper_bound(listing.address);
        if (found == alive.begin())
            return false;
        --found;
        const std::uint64_t offset = listing.address - found->first;
        const std::int64_t recorded = m_recorded.blocks().requestedBytes[BlockId::born(found->second)];
        if (offset >= static_cast<std::uint64_t>(std::max<std::int64_t>(recorded, 1)))
            return false;
        const Place& place = m_places[found->second];
        if (place.born < 0 || place.born >= here || place.died < here)
            return false;
        const std::int64_t bytes = m_run.blocks[found->second].bytes;
        listing.address = place.address + (offset < static_cast<std::uint64_t>(bytes) ? offset : 0);
        if (listing.kind == wire::RoleKind::Input && recorded > 0) // an item more or less
            listing.elements = static_cast<std::int64_t>(static_cast<double>(listing.elements)
                * static_cast<double>(bytes) / static_cast<double>(recorded));
        return true;
    }

    const DeviceTrace& m_recorded;
    const ProgramRun& m_run;
    const ToldRun& m_told;
    Recording& m_to;
    std::vector<std::uint32_t> m_blocks; // of the run, by row of the replayed requests
    std::vector<Place> m_places; // by block of the run
    std::optional<PutEvents> m_putEvents; // none: optimizers are the recorded ones
};

std::string nameOf(const Scenario& scenario)
{
    std::string name;
    const auto add = [&](std::string_view text) { name.append(name.empty() ? "" : ", ").append(text); };
    for (const Change& change : scenario.changes)
        add(change.text);
    if (scenario.settings)
        add("settings " + (scenario.settings->empty() ? std::string("of PyTorch") : *scenario.settings));
    if (scenario.capacityBytes)
        add("a capacity of " + std::to_string(*scenario.capacityBytes) + " bytes");
    return name.empty() ? "nothing changed" : name;
}

/// The recording without its events, and without what no replay can tell; with what the scenario changes.
std::unique_ptr<Recording> conditionsOf(
    const RecordedRun& recorded, const Scenario& scenario, const PutOptimizers* put)
{
    const Recording& from = recorded.trace->recording();
    const int device = recorded.trace->device();
    auto made = std::make_unique<Recording>(from);
    Recording& to = *made;
    to.path.clear();
    to.format = "prediction of strata whatif: " + nameOf(scenario);
    to.devices.clear();
    to.annotations = {};
    for (std::size_t row = 0; row < from.annotations.size(); ++row)
        if (from.annotations[row].device == device || from.annotations[row].device < 0) {
            Annotation kept = from.annotations[row];
            if (put != nullptr)
                kept.name = to.strings.intern(rangeName(*put, from.strings[kept.name]));
            to.annotations.push_back(kept);
        }
    to.truncation.reset();
    to.lost = {};
    to.driver = {};
    to.unknownKeys.clear();
    to.unknownActions.clear();
    to.cuts.clear();
    to.user = {};
    to.parts = {};
    to.facts[wire::info::kTorch] = recorded.report->version.text();
    if (scenario.capacityBytes)
        to.facts[wire::deviceKey(wire::info::kDevice, device, wire::info::kDeviceCapacity)]
            = std::to_string(*scenario.capacityBytes);
    if (scenario.settings) {
        std::erase_if(to.settings,
            [](const Setting& one) { return one.key == kSettingsKey || one.key == "expandable_segments"; });
        to.settings.push_back({ kSettingsKey, nlohmann::json(*scenario.settings).dump() });
    } else if (const auto* const start = from.parts.find<SettingsAtStart>()) {
        to.parts.get<SettingsAtStart>() = *start;
    }
    return made;
}

} // namespace

Result<std::unique_ptr<Recording>> predictedRecording(
    const RecordedRun& recorded, const Scenario& scenario, const ProgramRun* run, const Progress& progress)
{
    const DeviceTrace& trace = *recorded.trace;
    if (trace.blocks().olderCount() > 0 || !recorded.report->fromStart)
        return fail(Error::Kind::Refused,
            say("the recording begins with memory of before, and where that would lie is not known"),
            say("record the program from its start"));
    const auto told = RunReplay(recorded, scenario, progress).tell(run);
    if (!told)
        return Failure(told.error());
    std::unique_ptr<Recording> made
        = conditionsOf(recorded, scenario, run == nullptr ? nullptr : run->optimizers.get());
    Recording& to = *made;
    const ProgramRun itself = run == nullptr ? programRunOf(trace) : ProgramRun{};
    PredictedWriter writer(trace, run == nullptr ? itself : *run, *told, to);
    DeviceRecording& device = to.devices.emplace_back();
    device.device = trace.device();
    writer.writeEvents(device);
    writer.writeEnd(device);
    writer.writeCalls(AllocatorCalls::of(trace.recording(), trace.device()),
        to.parts.get<AllocatorCalls>().byDevice[trace.device()]);
    writer.writeListings(RoleListings::of(trace.recording(), trace.device()),
        to.parts.get<RoleListings>().byDevice[trace.device()]);
    return made;
}

} // namespace strata::model
