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

std::size_t EventColumns::bytesResident() const
{
    return action.bytesResident() + address.bytesResident() + bytes.bytesResident() + timeNs.bytesResident()
        + stack.bytesResident() + block.bytesResident() + stream.bytesResident() + pool.bytesResident()
        + compileContext.bytesResident() + userMetadata.bytesResident() + otherAction.bytesResident()
        + extras.bytesResident();
}

} // namespace strata::model
