// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace strata::model {

/// Which blocks there are, from event to event: their rows by their addresses. Keeps a pointer to the trace.
/// O(log blocks) an event.
class LiveBlocks {
public:
    static constexpr std::uint32_t kNoBlock = UINT32_MAX;

    LiveBlocks(const DeviceTrace& trace, EventIndex begin)
        : m_trace(trace)
        , m_at(begin)
    {
        const BlockColumns& blocks = trace.blocks();
        for (std::size_t row = 0; row < blocks.bornCount(); ++row) {
            const BlockId block = BlockId::born(row);
            if (blocks.birth(block) >= begin)
                break;
            if (std::min(blocks.death(block), blocks.pendingSince(block)) >= begin)
                m_live[blocks.address[block]] = static_cast<std::uint32_t>(row);
        }
    }

    void goTo(EventIndex event)
    {
        const EventColumns& events = m_trace.events();
        for (; m_at < event; ++m_at) {
            const auto row = static_cast<std::size_t>(m_at);
            const BlockId block = events.block[row];
            if (!m_trace.blocks().contains(block) || block.isOlder())
                continue;
            if (events.action[row] == Action::Alloc)
                m_live[events.address[row]] = static_cast<std::uint32_t>(block.row());
            else if (events.action[row] == Action::FreeRequested
                || events.action[row] == Action::FreeCompleted)
                if (const auto found = m_live.find(m_trace.blocks().address[block]);
                    found != m_live.end() && found->second == block.row())
                    m_live.erase(found);
        }
    }

    /// The one that holds the address.
    [[nodiscard]] std::uint32_t at(std::uint64_t address) const
    {
        auto after = m_live.upper_bound(address);
        if (address == 0 || after == m_live.begin())
            return kNoBlock;
        --after;
        const std::int64_t bytes = m_trace.blocks().requestedBytes[BlockId::born(after->second)];
        return address - after->first < static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1))
            ? after->second
            : kNoBlock;
    }

private:
    const DeviceTrace& m_trace;
    EventIndex m_at;
    std::map<std::uint64_t, std::uint32_t> m_live; // rows by address
};

} // namespace strata::model
