// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/events.h"

#include <algorithm>
#include <array>

namespace strata::model {

namespace {

constexpr std::array<std::string_view, 12> kActionNames{ "alloc", "free_requested", "free_completed",
    "segment_alloc", "segment_free", "segment_map", "segment_unmap", "snapshot", "oom", "user_defined",
    "annotate", "other" };

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
    const auto item = std::lower_bound(m_items.begin(), m_items.end(), event,
        [](const auto& entry, EventIndex e) { return static_cast<EventIndex>(entry.first) < e; });
    return item != m_items.end() && static_cast<EventIndex>(item->first) == event ? item->second : StringId{};
}

std::size_t EventColumns::bytesResident() const
{
    return action.bytesResident() + address.bytesResident() + bytes.bytesResident() + timeNs.bytesResident()
        + stack.bytesResident() + block.bytesResident() + stream.bytesResident() + pool.bytesResident()
        + compileContext.bytesResident() + userMetadata.bytesResident() + otherAction.bytesResident()
        + extras.bytesResident();
}

} // namespace strata::model
