// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/kinds.h"
#include "model/wire/link/link_chunks.h"
#include "model/wire/state.h"
#include "model/wire/tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::agent {

/// What stands on each device, for those who look on: sums over the events of a recording so far. Not exact
/// where events were lost. One thread, O(1) an event.
class LiveTotals {
public:
    explicit LiveTotals(std::size_t devices)
        : m_devices(devices)
    {
    }

    void onEvent(std::size_t device, wire::EventAction action, std::int64_t bytes)
    {
        using wire::EventAction;
        Device& at = m_devices[device];
        ++at.events;
        switch (action) {
        case EventAction::Alloc:
            at.requested += bytes;
            break;
        case EventAction::FreeCompleted:
            at.requested -= bytes;
            break;
        case EventAction::SegmentAlloc:
        case EventAction::SegmentMap:
            at.reserved += bytes;
            break;
        case EventAction::SegmentFree:
        case EventAction::SegmentUnmap:
            at.reserved -= bytes;
            break;
        default:
            break;
        }
    }
    /// What was there before the first event; may come behind it.
    void onBase(const wire::State& base)
    {
        Device& at = m_devices[static_cast<std::size_t>(base.device)];
        for (const wire::SegmentRow& segment : base.segments)
            at.reserved += segment.bytes;
        for (const wire::BlockRow& block : base.blocks)
            if (block.state != wire::BlockState::Inactive)
                at.requested += block.requestedBytes;
    }
    void onDriver(std::span<const wire::DriverRow> rows)
    {
        for (const wire::DriverRow& row : rows) {
            const auto device = static_cast<std::size_t>(row.device);
            if (device >= m_devices.size())
                m_devices.resize(device + 1);
            m_devices[device].used = row.processBytes;
            m_devices[device].isDriven = true;
        }
    }

    /// Of the devices that are used. `tellsEvents`: else only what the driver says is known.
    [[nodiscard]] wire::Totals at(std::int64_t timeNs, bool tellsEvents) const
    {
        wire::Totals totals;
        totals.timeNs = timeNs;
        for (std::size_t i = 0; i < m_devices.size(); ++i) {
            const Device& from = m_devices[i];
            if (from.events == 0 && from.reserved == 0 && !from.isDriven)
                continue;
            totals.devices.push_back({ static_cast<std::int32_t>(i), from.events, from.used,
                tellsEvents ? std::max<std::int64_t>(0, from.reserved) : -1,
                tellsEvents ? std::max<std::int64_t>(0, from.requested) : -1 });
        }
        return totals;
    }

private:
    struct Device {
        std::uint64_t events = 0;
        std::int64_t requested = 0, reserved = 0, used = -1;
        bool isDriven = false;
    };
    std::vector<Device> m_devices;
};

} // namespace strata::agent
