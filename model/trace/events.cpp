// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/events.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace strata::model {

namespace {

constexpr std::array<std::string_view, wire::kActionCount> kActionNames{ "alloc", "free_requested",
    "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "oom",
    "user_defined", "annotate", "other" };

} // namespace

std::string_view actionName(Action action)
{
    return kActionNames[static_cast<std::size_t>(action)];
}

std::optional<Action> actionFromName(std::string_view name)
{
    const auto* const known = std::find(kActionNames.begin(), kActionNames.end() - 1, name);
    if (known == kActionNames.end() - 1)
        return std::nullopt;
    return static_cast<Action>(known - kActionNames.begin());
}

StringId SparseText::at(EventIndex event) const
{
    const auto rows = std::views::iota(std::size_t{ 0 }, m_items.size());
    const auto row = std::ranges::lower_bound(
        rows, event, {}, [this](std::size_t i) { return static_cast<EventIndex>(m_items[i].first); });
    return row != rows.end() && static_cast<EventIndex>(m_items[*row].first) == event ? m_items[*row].second
                                                                                      : StringId{};
}

std::string_view phaseName(wire::EventPhase phase)
{
    static constexpr std::array<std::string_view, wire::kEventPhases> kNames{ "unknown", "grad", "no_grad",
        "inference", "backward", "backward_grad", "backward_grad_keep" };
    return kNames[static_cast<std::size_t>(phase)];
}

namespace {

/// Row `row` of a column that is left out as long as it tells nothing.
template <class T, std::size_t Bits>
void tellOf(Column<T, Bits>& column, std::size_t row, T value, T unknown)
{
    if (column.empty() && value == unknown)
        return;
    while (column.size() < row)
        column.push_back(unknown);
    column.push_back(value);
}

} // namespace

void EventColumns::tell(EventPhase itsPhase, ThreadIndex itsThread, ModuleIndex itsModule)
{
    const std::size_t row = action.size() - 1;
    tellOf(phase, row, itsPhase, EventPhase::Unknown);
    tellOf(thread, row, itsThread, kNoIndex);
    tellOf(module, row, itsModule, kNoIndex);
}

std::size_t EventColumns::bytesResident() const
{
    return action.bytesResident() + address.bytesResident() + bytes.bytesResident() + timeNs.bytesResident()
        + stack.bytesResident() + block.bytesResident() + stream.bytesResident() + pool.bytesResident()
        + reservedReading.bytesResident() + phase.bytesResident() + thread.bytesResident()
        + module.bytesResident()
        + compileContext.bytesResident() + userMetadata.bytesResident() + otherAction.bytesResident()
        + extras.bytesResident();
}

} // namespace strata::model
