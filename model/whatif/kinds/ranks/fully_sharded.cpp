// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/ranks/fully_sharded.h"

#include "model/analysis/training/roles/listed_tensors.h"
#include "model/analysis/training/steps/step_ends.h"
#include "model/base/wrap.h"
#include "model/trace/program/roles.h"
#include "model/whatif/evidence/derived_blocks.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace strata::model {

namespace {

constexpr std::uint16_t kGatherStream = 1, kReduceStream = 2; // that FSDP2 makes

/// A forward of a unit with its backward.
struct Turn {
    std::uint32_t unit = 0;
    DeepMoment enters, leaves;
    DeepMoment begins, ends; ///< of its backward
    bool endsWithAll = false; ///< nothing before it needs gradients: with the whole backward
};

class Schedule {
public:
    Schedule(const RecordedRun& run, const DeepStep& deep, const StepOwners& owners, const ShardUnits& units,
        const Sharding& sharding)
        : m_trace(*run.trace)
        , m_categories(*run.categories)
        , m_deep(deep)
        , m_owners(owners)
        , m_units(units)
        , m_sharding(sharding)
        , m_states(units.units.size())
    {
        for (EventIndex event = deep.beginEvent; event < deep.endEvent; ++event)
            if (m_trace.events().action[static_cast<std::size_t>(event)] == Action::Alloc)
                m_allocs.push_back(event);
        std::set<std::uint32_t> parameters;
        for (const ShardedParameter& parameter : units.parameters)
            parameters.insert(parameter.block);
        m_derived = derivedBlocks(m_trace, deep, std::move(parameters));
    }

    /// False: no gradients of the units' parameters were born in the step.
    bool findGradients()
    {
        std::map<std::uint32_t, std::uint32_t> byName; // -> unit
        for (std::uint32_t unit = 0; unit < m_units.units.size(); ++unit)
            for (const std::uint32_t parameter : m_units.units[unit].parameters)
                byName.emplace(m_units.parameters[parameter].name.value, unit);
        const ListedTensors& tensors = m_categories.tensors();
        for (const ListedTensors::Placed& placed : tensors.all()) {
            const RoleListing& listing = tensors.listing(placed);
            const auto unit = byName.find(listing.name.value);
            if (listing.kind != wire::RoleKind::Gradient || placed.block.isOlder() || unit == byName.end())
                continue;
            const EventIndex birth = m_trace.blocks().birth(placed.block);
            if (birth >= m_deep.beginEvent && birth < m_deep.endEvent)
                m_states[unit->second].gradients.emplace(
                    static_cast<std::uint32_t>(placed.block.row()), listing.name.value);
        }
        return std::ranges::any_of(m_states, [](const State& state) { return !state.gradients.empty(); });
    }

    /// None: they would be more than can be held in memory, in so many steps.
    std::optional<StepEdits> edits(std::size_t steps)
    {
        const std::vector<std::vector<Turn>> rounds = findRounds();
        std::size_t most = 0;
        for (const std::vector<Turn>& turns : rounds)
            for (const Turn& turn : turns)
                most += 2 * (unitOf(turn).parameters.size() + 2);
        if (most > kMostAdded / std::max<std::size_t>(steps, 1))
            return std::nullopt;
        for (std::size_t round = 0; round < rounds.size(); ++round) {
            if (round > 0)
                repeatGradients(rounds[0], rounds[round]);
            m_isFirst = round == 0;
            forward(rounds[round]);
            backward(rounds[round]);
        }
        return std::move(m_edits);
    }

private:
    static constexpr std::size_t kMostAdded = 8 << 20; // blocks, in all steps

    using Blocks = std::vector<std::size_t>; // of m_edits.added

    struct State {
        using Gradient = std::pair<std::uint32_t, std::uint32_t>; ///< a block, and the name of its parameter
        std::set<Gradient> gradients; ///< those of a recurrent layer may lie in one block
        std::set<Gradient> again; ///< the same of a later backward of the step
        bool gathered = false; ///< parameters are there
        std::optional<std::size_t> inFlight; ///< gathered, and not yet copied
        Blocks whole; ///< parameters
    };

    [[nodiscard]] EventIndex birth(std::uint32_t block) const
    {
        return m_trace.blocks().birth(BlockId::born(block));
    }

    /// Where the next allocation stands: frees that belong to what was before have been done.
    [[nodiscard]] DeepMoment beforeNextAlloc(const DeepMoment& moment) const
    {
        const auto next = std::ranges::lower_bound(m_allocs, moment.event);
        return { next == m_allocs.end() ? m_deep.endEvent : *next, 0 };
    }

    /// Forwards of units with what their backwards are, for each backward of the step, in the order of
    /// forwards.
    [[nodiscard]] std::vector<std::vector<Turn>> findRounds() const
    {
        std::vector<Turn> turns;
        for (std::uint32_t unit = 0; unit < m_units.units.size(); ++unit)
            for (const std::uint32_t window : m_units.units[unit].windows)
                if (const auto turn = turnOf(unit, m_owners.windows[window]))
                    turns.push_back(*turn);
        std::ranges::sort(turns, {}, &Turn::enters);
        std::vector<std::vector<Turn>> rounds;
        DeepMoment over{};
        for (const Turn& turn : turns) {
            if (rounds.empty() || over < turn.enters)
                rounds.emplace_back();
            rounds.back().push_back(turn);
            over = std::max(over, turn.ends);
        }
        return rounds;
    }

    [[nodiscard]] std::optional<Turn> turnOf(std::uint32_t unit, const StepOwners::Window& window) const
    {
        Turn turn{ unit, window.enters, window.leaves, kNeverInStep, {}, false };
        const auto& holds = m_owners.holds;
        for (auto hold = std::ranges::lower_bound(holds, window.enters, {}, &StepOwners::Hold::saved);
             hold != holds.end() && hold->saved < window.leaves; ++hold) {
            if (hold->thread != window.thread || !hold->released)
                continue;
            turn.begins = std::min(turn.begins, hold->unpacked.value_or(*hold->released));
            turn.ends = std::max(turn.ends, *hold->released);
        }
        if (turn.begins == kNeverInStep)
            return std::nullopt;
        turn.endsWithAll = m_units.units[unit].isRoot
            || std::ranges::none_of(window.takes, [&](std::uint32_t block) { return needsGradient(block); });
        return turn;
    }

    [[nodiscard]] bool needsGradient(std::uint32_t block) const { return m_derived.contains(block); }

    /// What a later backward makes in the places of gradients, and adds to them.
    void repeatGradients(const std::vector<Turn>& first, const std::vector<Turn>& later)
    {
        const std::int64_t from = allocsAt(first.front().enters), to = allocsAt(later.front().enters);
        const auto end = firstBlock() + static_cast<std::int64_t>(m_allocs.size());
        for (State& state : m_states) {
            state.again.clear();
            for (const auto& [block, name] : state.gradients) {
                const std::int64_t there = static_cast<std::int64_t>(block) + to - from;
                if (there >= std::min<std::int64_t>(
                        end, static_cast<std::int64_t>(m_trace.blocks().bornCount()))
                    || there < 0)
                    continue;
                const auto row = static_cast<std::uint32_t>(there);
                if (m_trace.blocks().requestedBytes[BlockId::born(row)]
                    == m_trace.blocks().requestedBytes[BlockId::born(block)])
                    state.again.emplace(row, name);
            }
        }
    }

    [[nodiscard]] std::int64_t allocsAt(const DeepMoment& moment) const
    {
        return std::ranges::lower_bound(m_allocs, moment.event) - m_allocs.begin();
    }

    /// Blocks stand in the order of their births.
    [[nodiscard]] std::int64_t firstBlock() const { return allocsBefore(m_trace, m_deep.beginEvent); }

    /// The next row: what is scheduled later at the same event comes behind.
    DeepMoment at(const DeepMoment& moment) { return { moment.event, m_row++ }; }

    std::size_t add(std::int64_t bytes, std::uint16_t stream, const DeepMoment& now, BlockRule rule)
    {
        const EventIndex like = birth(m_units.parameters.front().block);
        m_edits.added.push_back({ bytes, like, stream, at(now), kNeverInStep, {}, rule });
        return m_edits.added.size() - 1;
    }

    void let(std::size_t added, const DeepMoment& now) { m_edits.added[added].dies = at(now); }

    [[nodiscard]] const ShardUnit& unitOf(const Turn& turn) const { return m_units.units[turn.unit]; }

    [[nodiscard]] std::int64_t shardBytes(const ShardedParameter& parameter) const
    {
        return parameter.shardElements(m_sharding.ranks) * parameter.itemBytes;
    }
    [[nodiscard]] std::int64_t paddedBytes(const ShardedParameter& parameter) const
    {
        return shardBytes(parameter) * m_sharding.ranks;
    }

    void gather(std::uint32_t unit, const DeepMoment& now)
    {
        State& state = m_states[unit];
        if (state.gathered || state.inFlight || m_units.units[unit].parameters.empty())
            return;
        std::int64_t bytes = 0;
        Blocks fromHost; // until the whole is being gathered
        for (const std::uint32_t index : m_units.units[unit].parameters) {
            const ShardedParameter& parameter = m_units.parameters[index];
            bytes = wrapAdd(bytes, paddedBytes(parameter));
            if (m_sharding.offloads)
                fromHost.push_back(add(shardBytes(parameter), kGatherStream, now, BlockRule::BroughtBack));
        }
        // One rank alone copies its parameters.
        state.inFlight
            = m_sharding.ranks > 1 ? add(bytes, kGatherStream, now, BlockRule::Communicated) : kNothing;
        for (const std::size_t shard : fromHost)
            let(shard, now);
    }

    /// In forward what was gathered stays until the next one has been.
    void copyOut(std::uint32_t unit, const DeepMoment& now, bool inForward)
    {
        State& state = m_states[unit];
        if (!state.inFlight)
            return;
        if (inForward)
            letKept(now);
        for (const std::uint32_t parameter : m_units.units[unit].parameters)
            state.whole.push_back(
                add(paddedBytes(m_units.parameters[parameter]), 0, now, BlockRule::Communicated));
        if (*state.inFlight != kNothing) {
            if (inForward)
                m_kept = *state.inFlight;
            else
                let(*state.inFlight, now);
        }
        state.inFlight.reset();
        state.gathered = true;
    }

    void letKept(const DeepMoment& now)
    {
        if (m_kept)
            let(*m_kept, now);
        m_kept.reset();
    }

    void reshard(std::uint32_t unit, const DeepMoment& now)
    {
        State& state = m_states[unit];
        for (const std::size_t whole : state.whole)
            let(whole, now);
        state.whole.clear();
        state.gathered = false;
    }

    [[nodiscard]] bool reshardsAfterForward(const ShardUnit& unit) const
    {
        return m_sharding.reshardsAfterForward.value_or(!unit.isRoot);
    }

    void forward(const std::vector<Turn>& turns)
    {
        struct Moment {
            DeepMoment at;
            const Turn* turn;
            bool enters;
        };
        std::vector<Moment> moments;
        for (const Turn& turn : turns) {
            moments.push_back({ turn.enters, &turn, true });
            moments.push_back({ turn.leaves, &turn, false });
        }
        std::ranges::stable_sort(moments, {}, &Moment::at);
        m_last = nullptr;
        m_before.clear();
        for (const Moment& moment : moments) {
            const ShardUnit& unit = unitOf(*moment.turn);
            if (moment.enters) {
                gather(moment.turn->unit, moment.at);
                copyOut(moment.turn->unit, moment.at, true);
                continue;
            }
            if (reshardsAfterForward(unit))
                reshard(moment.turn->unit, moment.at);
            if (!unit.parameters.empty())
                m_before.emplace(moment.turn, std::exchange(m_last, moment.turn));
            if (unit.isRoot)
                letKept(moment.at);
        }
    }

    void backward(const std::vector<Turn>& turns)
    {
        struct Moment {
            DeepMoment at;
            const Turn* turn;
            bool begins;
        };
        std::vector<Moment> moments;
        DeepMoment end{};
        std::map<std::uint32_t, int> counts; // turns of units
        for (const Turn& turn : turns)
            ++counts[turn.unit];
        for (const Turn& turn : turns) {
            moments.push_back({ turn.begins, &turn, true });
            const DeepMoment ends
                = counts[turn.unit] > 1 ? turn.ends : std::max(turn.ends, behindGradients(turn.unit));
            if (!turn.endsWithAll)
                moments.push_back({ beforeNextAlloc(ends), &turn, false });
            end = std::max(end, ends);
        }
        // A unit ends before the one in front of it begins, and a model begins before what is in it.
        std::ranges::stable_sort(moments, [&](const Moment& a, const Moment& b) {
            if (a.at.event != b.at.event)
                return a.at.event < b.at.event;
            if (a.begins != b.begins)
                return !a.begins;
            return unitOf(*a.turn).isRoot && !unitOf(*b.turn).isRoot;
        });
        for (const Moment& moment : moments)
            if (moment.begins)
                begin(*moment.turn, moment.at);
            else
                reduce(moment.turn->unit, moment.at);
        const DeepMoment last = beforeNextAlloc(end);
        std::set<std::uint32_t> done;
        for (const bool root : { false, true })
            for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn)
                if (turn->endsWithAll && unitOf(*turn).isRoot == root && done.insert(turn->unit).second)
                    reduce(turn->unit, last);
        for (std::uint32_t unit = 0; unit < m_states.size(); ++unit)
            reshard(unit, last);
        letReduced(last);
    }

    /// The last node of a unit may let go of what it took out before it makes a gradient. Of a unit that runs
    /// once: else gradients are of one turn or of another.
    [[nodiscard]] DeepMoment behindGradients(std::uint32_t unit) const
    {
        EventIndex last = -1;
        for (const auto& [block, name] : m_isFirst ? m_states[unit].gradients : m_states[unit].again)
            last = std::max(last, birth(block));
        return { last + 1, 0 };
    }

    void begin(const Turn& turn, const DeepMoment& now)
    {
        if (unitOf(turn).parameters.empty())
            return;
        gather(turn.unit, now);
        copyOut(turn.unit, now, false);
        const auto before = m_before.find(&turn);
        if (before != m_before.end() && before->second != nullptr)
            gather(before->second->unit, now);
    }

    void letReduced(const DeepMoment& now)
    {
        if (m_reduced)
            let(*m_reduced, now);
        m_reduced.reset();
    }

    void reduce(std::uint32_t unit, const DeepMoment& now)
    {
        State& state = m_states[unit];
        reshard(unit, now);
        auto& gradients = m_isFirst ? state.gradients : state.again;
        std::set<std::uint32_t> names, blocks;
        for (const auto& [block, name] : gradients)
            if (birth(block) < now.event && (blocks.contains(block) || m_taken.insert(block).second)) {
                names.insert(name);
                blocks.insert(block);
            }
        letReduced(now);
        std::int64_t bytes = 0;
        for (const std::uint32_t index : m_units.units[unit].parameters)
            if (const ShardedParameter& parameter = m_units.parameters[index];
                names.contains(parameter.name.value))
                bytes = wrapAdd(bytes, paddedBytes(parameter));
        if (bytes <= 0)
            return;
        m_reduced = add(bytes, 0, now, BlockRule::Communicated);
        for (const std::uint32_t block : blocks)
            m_edits.changes.push_back({ block, at(now), BlockRule::Sharded });
        const std::size_t shards = add(
            std::max<std::int64_t>(bytes / m_sharding.ranks, 1), kReduceStream, now, BlockRule::Sharded);
        if (m_isFirst && !m_sharding.offloads)
            m_edits.added[shards].diesWith = *blocks.begin();
        else
            let(shards, now);
    }

    static constexpr std::size_t kNothing = SIZE_MAX;

    const DeviceTrace& m_trace;
    const Categories& m_categories;
    const DeepStep& m_deep;
    const StepOwners& m_owners;
    const ShardUnits& m_units;
    const Sharding& m_sharding;
    std::set<std::uint32_t> m_derived; // blocks that come of parameters
    std::vector<State> m_states; // by unit
    std::vector<EventIndex> m_allocs; // of the step
    const Turn* m_last = nullptr; // whose forward ended
    std::map<const Turn*, const Turn*> m_before; // by turn, that whose forward ended before; nullptr: none
    std::optional<std::size_t> m_kept, m_reduced;
    std::set<std::uint32_t> m_taken; // gradients
    std::uint32_t m_row = 0;
    bool m_isFirst = true;
    StepEdits m_edits;
};

/// Each unit's shards are made, and then its parameters go. Shards that lie on the host go right away.
void makeShards(const DeviceTrace& trace, const ShardUnits& units, const Sharding& sharding, EventIndex made,
    RunEdits& edits)
{
    RuleSums sums;
    std::set<std::uint32_t> gone; // blocks
    std::uint32_t order = 0;
    for (const ShardUnit& unit : units.units) {
        for (const std::uint32_t index : unit.parameters) {
            const ShardedParameter& parameter = units.parameters[index];
            const BlockId block = BlockId::born(parameter.block);
            const DeepMoment dies = recordedDeath(trace, parameter.block);
            RunEdits::Added& shard = edits.added.emplace_back();
            shard.bytes = parameter.shardElements(sharding.ranks) * parameter.itemBytes;
            shard.like = trace.blocks().birth(block);
            shard.born = { made, 0, order++ };
            shard.dies = sharding.offloads
                ? RunEdits::Place{ made, 0, order++ }
                : RunEdits::Place{ dies == kNeverInStep ? RunEdits::Added::kNever : dies.event, 0, 0 };
        }
        for (const std::uint32_t index : unit.parameters) {
            const std::uint32_t block = units.parameters[index].block;
            if (!gone.insert(block).second)
                continue;
            edits.moves.push_back({ block, { made, 0, order++ } });
            sums.add(BlockRule::Sharded, trace.blocks().requestedBytes[BlockId::born(block)]);
        }
    }
    edits.uses = sums.used();
}

/// Where the module of a parameter is called first, in the first step, which is taken to begin as the deep
/// one.
RunEdits::Place firstForwardOf(
    const RecordedRun& run, const DeepStep& deep, const StepOwners& owners, const ShardedParameter& parameter)
{
    constexpr std::uint32_t kBehindGathered = 1 << 20;
    const StringTable& strings = run.trace->recording().strings;
    const std::string_view name = strings[parameter.name];
    const std::string_view path = name.substr(0, name.rfind('.'));
    const auto window = std::ranges::find_if(
        owners.windows, [&](const StepOwners::Window& each) { return strings[each.path] == path; });
    const EventIndex behind = window == owners.windows.end() ? 0 : window->enters.event - deep.beginEvent;
    const auto first = std::ranges::find(run.steps->steps, StepKind::Train, &TrainingStep::kind);
    const EventIndex begin = first == run.steps->steps.end() ? deep.beginEvent : first->first;
    return { begin + behind, kBehindGathered, 0 };
}

/// The blocks that recurrent layers make for all of their parameters once these have been gathered.
void makeFlat(const RecordedRun& run, const DeepStep& deep, const StepOwners& owners, const ShardUnits& units,
    RunEdits& edits)
{
    RunEdits flats;
    RuleSums sums;
    std::set<std::uint32_t> made; // blocks
    for (const ShardedParameter& parameter : units.parameters) {
        if (!parameter.isFlat || !made.insert(parameter.block).second)
            continue;
        const BlockId block = BlockId::born(parameter.block);
        RunEdits::Added& flat = flats.added.emplace_back();
        flat.bytes = run.trace->blocks().requestedBytes[block];
        flat.like = run.trace->blocks().birth(block);
        flat.born = firstForwardOf(run, deep, owners, parameter);
        flat.dies = { RunEdits::Added::kNever, 0, 0 };
        sums.add(BlockRule::Communicated, flat.bytes);
    }
    flats.uses = sums.used();
    edits.append(flats);
}

} // namespace

Result<RunEdits> fullyShardedEdits(const RecordedRun& run, const DeepStep& deep, const StepOwners& owners,
    const ShardUnits& units, const Sharding& sharding, EventIndex made)
{
    Schedule schedule(run, deep, owners, units, sharding);
    if (!schedule.findGradients())
        return fail(Error::Kind::Refused,
            say("no gradient of a parameter is made in the deep step: they may be kept from step to step"),
            say("let zero_grad() set them to None, as is the default"));
    RunEdits edits;
    makeShards(*run.trace, units, sharding, made, edits);
    makeFlat(run, deep, owners, units, edits);
    const auto ends = endsOfOptimizer(*run.trace, deep.beginEvent, deep.endEvent);
    const auto inStep = schedule.edits(ends.size() + 1);
    if (!inStep)
        return fail(Error::Kind::Refused, say("the recording has more steps than can be rewritten so"),
            say("record fewer steps: the first ones tell the peak"));
    edits.append(inAllSteps(*run.trace, *run.steps, stretchOf(deep), *inStep));
    return orRefused(std::move(edits));
}

} // namespace strata::model
