// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/step_curve.h"

#include <algorithm>
#include <limits>

namespace strata::model {

StepCurve::StepCurve(const DeviceTrace& trace, const DeepStep& step, const std::vector<std::int64_t>& bytes)
    : m_bytes(bytes)
{
    const BlockColumns& blocks = trace.blocks();
    const EventColumns& events = trace.events();
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        m_before += blocks.requestedBytes[BlockId::older(row)];
    for (EventIndex event = 0; event < step.endEvent; ++event) {
        const auto row = static_cast<std::size_t>(event);
        const BlockId block = events.block[row];
        const Action action = events.action[row];
        if (!blocks.contains(block) || (action != Action::Alloc && action != Action::FreeCompleted))
            continue;
        const std::int64_t size
            = block.isOlder() ? blocks.requestedBytes[block] : bytes[static_cast<std::size_t>(block.row())];
        const std::int64_t delta = action == Action::Alloc ? size : -size;
        if (event < step.beginEvent)
            m_before += delta;
        else
            m_events.push_back({ event,
                block.isOlder() ? std::numeric_limits<std::uint32_t>::max()
                                : static_cast<std::uint32_t>(block.row()),
                delta });
    }
}

StepCurve::Peak StepCurve::peak(const StepEdits& edits, std::int64_t limitBytes) const
{
    struct Insertion {
        RunEdits::Place place;
        std::int64_t delta = 0;
    };
    std::vector<Insertion> insertions;
    std::vector<std::uint32_t> moved;
    for (const StepEdits::Change& change : edits.changes) {
        moved.push_back(change.block);
        insertions.push_back({ { change.dies.event, change.dies.row, 0 }, -m_bytes[change.block] });
    }
    std::ranges::sort(moved);
    for (const RunEdits::Copy& copy : edits.copies) {
        insertions.push_back({ copy.born, m_bytes[copy.like] });
        insertions.push_back({ std::max(copy.born, copy.dies), -m_bytes[copy.like] });
    }
    std::ranges::stable_sort(insertions, {}, &Insertion::place);

    Peak peak{ m_before, 0 };
    std::int64_t live = m_before;
    const auto take = [&](std::int64_t delta) {
        live += delta;
        peak.requestedBytes = std::max(peak.requestedBytes, live);
        if (delta > 0 && live > limitBytes)
            peak.bytesAbove += static_cast<double>(live - limitBytes);
    };
    auto next = insertions.begin();
    for (const Event& event : m_events) {
        for (; next != insertions.end() && next->place.event <= event.event; ++next)
            take(next->delta);
        if (event.delta > 0 || !std::ranges::binary_search(moved, event.block))
            take(event.delta);
    }
    return peak;
}

} // namespace strata::model
