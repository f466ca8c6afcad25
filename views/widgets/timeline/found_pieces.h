// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/timeline/lanes_data.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::views {

/// Pieces of work that stand out of their lanes. A value; pieces are rows of Work::spans, of the data it was
/// made of.
class FoundPieces {
public:
    FoundPieces() = default; ///< nothing is looked for
    /// Those whose name has this text in it, whatever the case. O(pieces).
    [[nodiscard]] static FoundPieces named(const LanesData& data, const QString& wanted);
    [[nodiscard]] static FoundPieces of(const LanesData& data, std::span<const std::uint32_t> pieces);

    [[nodiscard]] bool isEmpty() const { return m_places.empty(); } ///< nothing is looked for
    [[nodiscard]] std::int64_t count() const { return m_count; }
    /// Whether one is among the pieces of a segment. O(log n).
    [[nodiscard]] bool has(std::size_t track, std::size_t row, const model::WorkSegment& segment) const;
    /// The next in time behind the current piece (before it), around the end too. O(rows log n).
    [[nodiscard]] std::optional<std::uint32_t> next(
        const LanesData& data, std::optional<std::uint32_t> current, bool forward) const;

private:
    FoundPieces(const LanesData& data, const std::vector<bool>& isFound); // by row of Work::spans

    std::vector<std::vector<std::vector<std::uint32_t>>> m_places; // by track and row: places in it
    std::int64_t m_count = 0;
};

} // namespace strata::views
