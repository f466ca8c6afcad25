// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/fragmentation.h"
#include "views/models/document/device_data.h"

#include <QString>

#include <optional>
#include <vector>

namespace strata::views {

/// One line of the address map: a segment, or the mapped stretches of one range of addresses, which
/// expandable segments take their pages from.
struct MapRow {
    std::uint32_t first = 0, count = 1; ///< of AllocatorMap::segments
    std::uint64_t address = 0;
    std::int64_t spanBytes = 0; ///< from its begin to its end, what is not mapped included
    std::int64_t bytes = 0; ///< reserved
    std::int64_t freeBytes = 0;
    std::uint32_t section = 0;
};

/// Rows of one pool, stream and kind, to one scale.
struct MapSection {
    QString title; ///< "Default pool, large, stream 0"
    std::uint32_t firstRow = 0, rowCount = 0;
    std::int64_t bytes = 0, freeBytes = 0;
    std::int64_t widestBytes = 0; ///< of its rows
    std::int64_t lineBytes = 0; ///< that give a picture in which most rows take one line
};

/// A request that was refused, where it came closest to having room.
struct RefusedRequest {
    std::int64_t bytes = 0; ///< rounded
    std::optional<std::uint32_t> hole; ///< the largest free stretch of the default pools: a block of the map
    std::uint32_t row = 0; ///< of the hole
};

/// What lies under a point of the address map.
struct MapHit {
    std::uint32_t row = 0;
    std::optional<std::uint32_t> block; ///< of the map, free ones too; none: between what is mapped
    friend bool operator==(const MapHit&, const MapHit&) = default;
};

/// The allocator at one instant, laid out: what the address map paints. Immutable; any thread.
struct MapPicture {
    std::shared_ptr<const DeviceData> device; ///< of which the map is
    model::AllocatorMap map;
    model::Fragmentation fragmentation;
    std::vector<MapSection> sections;
    std::vector<MapRow> rows; ///< by section, then address
    std::optional<RefusedRequest> refused; ///< by the event of the map

    [[nodiscard]] std::int64_t reservedBytes() const;
    /// The row that holds an address; none: it is not reserved.
    [[nodiscard]] std::optional<std::uint32_t> rowAt(std::uint64_t address) const;
    /// The block of the map at an address.
    [[nodiscard]] std::optional<std::uint32_t> blockAt(std::uint64_t address) const;
};

/// O(active log active + segments that ever were + rows log rows).
[[nodiscard]] std::shared_ptr<const MapPicture> mapPicture(
    std::shared_ptr<const DeviceData> device, model::EventIndex event);

} // namespace strata::views
