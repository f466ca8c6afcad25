// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/deep/step_owners.h"

#include "model/analysis/training/deep/live_blocks.h"
#include "model/analysis/training/steps/deep_check.h"
#include "model/base/wrap.h"
#include "model/cards/element_type.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

constexpr std::uint32_t kNoBlock = StepOwners::kNoBlock;

void extend(std::optional<DeepMoment>& until, const DeepMoment& moment)
{
    until = until ? std::max(*until, moment) : moment;
}

/// Below 0: the type is not known, or they are beyond all measure.
std::int64_t bytesOf(std::uint64_t elements, std::string_view type)
{
    constexpr std::uint64_t kMostElements = std::uint64_t{ 1 } << 48;
    const std::int64_t each = elementTypeOf(type).bytes;
    return each == 0 || elements > kMostElements ? StepOwners::kNotTold
                                                 : static_cast<std::int64_t>(elements) * each;
}

class Reading {
public:
    Reading(const DeviceTrace& trace, const DeepStep& step)
        : m_trace(trace)
        , m_step(step)
        , m_live(trace, step.beginEvent)
        , m_seen(step.tensors.size())
    {
    }

    Result<StepOwners> read()
    {
        EventIndex at = m_step.beginEvent;
        if (!m_step.rows.empty())
            m_owners.thread = m_step.rows.front().thread;
        for (std::size_t index = 0; index < m_step.rows.size(); ++index) {
            const DeepStep::Row& row = m_step.rows[index];
            const bool isWithin = row.event >= at && row.event <= m_step.endEvent
                && row.firstRef <= m_step.refs.size() && row.refs <= m_step.refs.size() - row.firstRef;
            if (!isWithin || std::ranges::any_of(m_step.refsOf(row), [&](std::uint32_t tensor) {
                    return tensor >= m_step.tensors.size();
                }))
                return fail(Error::Kind::Refused, say("the deep step contradicts itself"),
                    say("record the program again"));
            at = row.event;
            m_live.goTo(at);
            take(row, { at, static_cast<std::uint32_t>(index) });
        }
        for (const Seen& seen : m_seen)
            if (seen.block != kNoBlock && seen.hold == kNoHold && !seen.isGone)
                m_owners.program[seen.block] = kNeverInStep;
        endUses();
        m_owners.reached = reached();
        std::erase_if(
            m_owners.windows, [](const StepOwners::Window& window) { return window.leaves == kNeverInStep; });
        return std::move(m_owners);
    }

private:
    static constexpr std::uint32_t kNoHold = UINT32_MAX;

    /// What is known of a tensor.
    struct Seen {
        bool isSeen = false, isGone = false;
        std::uint32_t block = kNoBlock;
        std::uint32_t hold = kNoHold; ///< it comes of what that unpacked
        bool isOfUse = false; ///< its last use, which is not over: more than the tensor that was handed over
    };
    struct OpenUse {
        std::uint32_t hold = kNoHold;
        std::size_t use = 0;
    };

    void take(const DeepStep::Row& row, const DeepMoment& now)
    {
        switch (row.kind) {
        case DeepStep::Kind::Operator:
            if (isOfModel(row))
                m_casting.insert(row.thread);
            m_calls[row.thread].running.emplace_back();
            for (const std::uint32_t tensor : m_step.refsOf(row))
                if (const std::uint32_t block = see(tensor, kNoHold); block != kNoBlock) {
                    m_owners.takes.push_back({ now, row.thread, block });
                    use(row.thread, tensor);
                }
            break;
        case DeepStep::Kind::Returns:
            for (const std::uint32_t tensor : m_step.refsOf(row)) {
                if (!m_seen[tensor].isSeen && see(tensor, kNoHold) != kNoBlock
                    && m_casting.erase(row.thread) > 0)
                    m_owners.casts.insert(m_seen[tensor].block);
                use(row.thread, tensor);
            }
            returned(m_calls[row.thread], now);
            break;
        case DeepStep::Kind::Gone:
            for (const std::uint32_t tensor : m_step.refsOf(row))
                letGo(m_seen[tensor], now);
            break;
        case DeepStep::Kind::Saved:
            save(row, now);
            break;
        case DeepStep::Kind::Unpacked:
            unpack(row, now);
            break;
        case DeepStep::Kind::Released:
            if (const auto hold = m_holds.find(row.saved); hold != m_holds.end())
                extend(m_owners.holds[hold->second].released, now);
            break;
        case DeepStep::Kind::Enters:
            enter(row, now);
            break;
        case DeepStep::Kind::Leaves:
            leave(row, now);
            break;
        }
    }

    /// A copy of another type, of what was there before the step.
    [[nodiscard]] bool isOfModel(const DeepStep::Row& row) const
    {
        return row.name.valid() && m_trace.recording().strings[row.name] == "aten::_to_copy"
            && std::ranges::all_of(m_step.refsOf(row), [&](std::uint32_t tensor) {
                   const std::uint32_t block = m_live.at(m_step.tensors[tensor].address);
                   return block == kNoBlock
                       || m_trace.blocks().birth(BlockId::born(block)) < m_step.beginEvent;
               });
    }

    /// Operators of a thread that have begun.
    struct Calls {
        std::vector<std::vector<OpenUse>> running; ///< of each what was unpacked in it itself
        std::vector<std::uint32_t> blocks; ///< that they work with
    };

    void use(std::uint32_t thread, std::uint32_t tensor)
    {
        const Seen& seen = m_seen[tensor];
        if (seen.block != kNoBlock && seen.hold == kNoHold)
            m_calls[thread].blocks.push_back(seen.block);
    }

    /// Where the outermost one ends, all that they worked with has been used.
    void returned(Calls& calls, const DeepMoment& now)
    {
        if (!calls.running.empty()) {
            for (const OpenUse& open : calls.running.back())
                m_owners.holds[open.hold].uses[open.use].returned = now;
            calls.running.pop_back();
        }
        if (!calls.running.empty())
            return;
        for (const std::uint32_t block : calls.blocks)
            m_owners.lastUses[block] = now;
        calls.blocks.clear();
    }

    /// The block of a tensor, which stays the one that it had when it was first seen.
    std::uint32_t see(std::uint32_t tensor, std::uint32_t hold)
    {
        Seen& seen = m_seen[tensor];
        if (seen.isSeen)
            return seen.block;
        seen.isSeen = true;
        seen.block = m_live.at(m_step.tensors[tensor].address);
        seen.hold = hold;
        // A tensor of what backward has taken out already is one of its operators'.
        if (const auto unpacked = m_unpacked.find(seen.block);
            hold == kNoHold && unpacked != m_unpacked.end()) {
            seen.hold = unpacked->second;
            seen.isOfUse = !m_owners.holds[seen.hold].released;
        }
        return seen.block;
    }

    void letGo(Seen& seen, const DeepMoment& now)
    {
        seen.isGone = true;
        if (seen.block == kNoBlock)
            return;
        if (seen.hold != kNoHold) {
            StepOwners::Hold& hold = m_owners.holds[seen.hold];
            extend(hold.used, now);
            if (seen.isOfUse)
                extend(hold.uses.back().gone, now);
        } else {
            DeepMoment& until = m_owners.program[seen.block];
            until = std::max(until, now);
        }
    }

    [[nodiscard]] std::string_view typeOf(const DeepStep::Tensor& tensor) const
    {
        return tensor.type.valid() ? m_trace.recording().strings[tensor.type] : std::string_view();
    }

    /// Views of the same place count once.
    [[nodiscard]] boost::unordered_flat_map<std::uint32_t, std::int64_t> reached() const
    {
        struct Place {
            std::uint32_t block;
            std::uint64_t offset;
            std::int64_t bytes;
            auto operator<=>(const Place&) const = default;
        };
        std::vector<Place> places;
        for (std::size_t i = 0; i < m_seen.size(); ++i)
            if (const DeepStep::Tensor& tensor = m_step.tensors[i];
                m_seen[i].block != kNoBlock)
                places.push_back({ m_seen[i].block, tensor.offset,
                    tensor.elements > 0 ? bytesOf(tensor.elements, typeOf(tensor)) : StepOwners::kNotTold });
        std::ranges::sort(places);
        places.erase(std::ranges::unique(places).begin(), places.end());
        boost::unordered_flat_map<std::uint32_t, std::int64_t> reached;
        for (const Place& place : places) {
            std::int64_t& bytes = reached[place.block];
            const bool isTold = bytes != StepOwners::kNotTold && place.bytes != StepOwners::kNotTold;
            bytes = isTold ? wrapAdd(bytes, place.bytes) : StepOwners::kNotTold;
        }
        return reached;
    }

    void save(const DeepStep::Row& row, const DeepMoment& now)
    {
        StepOwners::Hold hold;
        hold.thread = row.thread;
        hold.saved = now;
        hold.layout = row.layout;
        if (const auto refs = m_step.refsOf(row); !refs.empty()) {
            const DeepStep::Tensor& tensor = m_step.tensors[refs.front()];
            hold.block = m_live.at(tensor.address);
            hold.bytes = row.layout == wire::DeepLayout::NotTold ? StepOwners::kNotTold
                                                                 : bytesOf(row.elements, typeOf(tensor));
        }
        m_holds[row.saved] = static_cast<std::uint32_t>(m_owners.holds.size());
        m_owners.holds.push_back(hold);
    }

    void unpack(const DeepStep::Row& row, const DeepMoment& now)
    {
        const auto found = m_holds.find(row.saved);
        if (found == m_holds.end())
            return;
        StepOwners::Hold& hold = m_owners.holds[found->second];
        if (std::vector<std::vector<OpenUse>>& running = m_calls[row.thread].running; !running.empty())
            running.back().push_back({ found->second, hold.uses.size() });
        hold.uses.push_back({ now, {}, {} });
        if (!hold.unpacked)
            hold.unpacked = now;
        if (hold.block != kNoBlock)
            m_unpacked[hold.block] = found->second;
        for (const std::uint32_t tensor : m_step.refsOf(row))
            see(tensor, found->second);
    }

    void enter(const DeepStep::Row& row, const DeepMoment& now)
    {
        m_within[row.thread].push_back(m_owners.windows.size());
        StepOwners::Window window{ row.name, row.detail, row.thread, now, kNeverInStep, {} };
        for (const std::uint32_t tensor : m_step.refsOf(row))
            if (const std::uint32_t block = see(tensor, kNoHold); block != kNoBlock)
                window.takes.push_back(block);
        m_owners.windows.push_back(std::move(window));
    }

    /// Windows of a thread that began later than the one that is left, and were not left, end with it.
    void leave(const DeepStep::Row& row, const DeepMoment& now)
    {
        for (const std::uint32_t tensor : m_step.refsOf(row))
            if (const std::uint32_t block = see(tensor, kNoHold); block != kNoBlock)
                m_owners.lastUses[block] = now;
        std::vector<std::size_t>& within = m_within[row.thread];
        const auto isLeft = [&](std::size_t window) {
            return m_owners.windows[window].path == row.name && m_owners.windows[window].type == row.detail;
        };
        if (std::ranges::none_of(within, isLeft))
            return;
        for (bool found = false; !found; within.pop_back()) {
            found = isLeft(within.back());
            m_owners.windows[within.back()].leaves = now;
            for (const std::uint32_t block : m_owners.windows[within.back()].takes)
                m_owners.lastUses[block] = now;
        }
    }

    /// A block that goes between the last time that it is taken out and the release goes when that use ends,
    /// unless that was seen to end sooner: operators may have tensors of it that nobody sees. What backward
    /// adds up of a gradient that was broadcast comes between the two.
    void endUses()
    {
        const BlockColumns& blocks = m_trace.blocks();
        for (const auto& [row, index] : m_unpacked) {
            StepOwners::Hold& hold = m_owners.holds[index];
            const BlockId block = BlockId::born(row);
            const EventIndex gone = std::min(blocks.death(block), blocks.pendingSince(block));
            if (gone < m_step.endEvent && hold.unpacked && hold.released && hold.unpacked->event <= gone
                && gone <= hold.released->event && (!hold.used || hold.used->event > gone))
                hold.used = DeepMoment{ gone, DeepMoment::kLastRow };
        }
    }

    const DeviceTrace& m_trace;
    const DeepStep& m_step;
    LiveBlocks m_live;
    std::vector<Seen> m_seen; // by tensor
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> m_holds; // by the number of what is saved
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> m_unpacked; // by block, the last one
    boost::unordered_flat_map<std::uint32_t, std::vector<std::size_t>> m_within; // by thread
    boost::unordered_flat_set<std::uint32_t> m_casting; // threads, until what that makes is seen
    boost::unordered_flat_map<std::uint32_t, Calls> m_calls; // by thread
    StepOwners m_owners;
};

} // namespace

Result<StepOwners> stepOwners(const DeviceTrace& trace, const DeepStep& step)
{
    if (step.beginEvent < 0 || step.beginEvent > step.endEvent || step.endEvent > trace.eventCount())
        return fail(
            Error::Kind::Refused, say("the deep step contradicts itself"), say("record the program again"));
    return Reading(trace, step).read();
}

const DeepStep* deepStepOf(const DeviceTrace& trace)
{
    if (const auto* const part = trace.recording().parts.find<DeepSteps>())
        for (const DeepStep& step : part->steps)
            if (step.device == trace.device() && isUsable(step, checkDeepStep(trace, step)))
                return &step;
    return nullptr;
}

DeepMoment recordedDeath(const DeviceTrace& trace, std::uint32_t block)
{
    const BlockId id = BlockId::born(block);
    const EventIndex gone = std::min(trace.blocks().death(id), trace.blocks().pendingSince(id));
    return gone == BlockColumns::kNever ? kNeverInStep : DeepMoment{ gone, DeepMoment::kLastRow };
}

} // namespace strata::model
