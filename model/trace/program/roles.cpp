// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/program/roles.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

namespace strata::model {

const RoleListings::Rows& RoleListings::of(const Recording& recording, int device)
{
    static const Rows kNone;
    const auto* const part = recording.parts.find<RoleListings>();
    if (!part)
        return kNone;
    const auto found = part->byDevice.find(device);
    return found == part->byDevice.end() ? kNone : found->second;
}

bool RoleListings::tellTensors(const Recording& recording, int device)
{
    const Rows& rows = of(recording, device);
    return std::ranges::any_of(
        rows, [](const RoleListing& row) { return row.kind != wire::RoleKind::SteppedUnlisted; });
}

std::int64_t countModuleNames(const Recording& recording)
{
    std::set<StringId> names(recording.modules.begin(), recording.modules.end());
    if (const auto* const part = recording.parts.find<RoleListings>())
        for (const auto& [device, rows] : part->byDevice)
            for (const RoleListing& listing : rows)
                if (!wire::isStep(listing.kind) && listing.name.valid())
                    names.insert(listing.name);
    return std::ssize(names);
}

std::string_view roleName(wire::RoleKind kind)
{
    static constexpr std::array<std::string_view, wire::kRoleKinds> kNames{ "parameter", "buffer", "gradient",
        "optimizer_state", "input", "stepped", "stepped_unlisted" };
    return kNames[static_cast<std::size_t>(kind)];
}

} // namespace strata::model
