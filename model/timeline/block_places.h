// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/strips.h"
#include "model/trace/filter/grouping.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <variant>
#include <vector>

namespace strata::model {

/// Where a block lies in compacted address space, cut at the end of its strip, and its group.
struct BlockPlace {
    std::int64_t y = 0;
    std::int64_t bytes = 0; ///< 0 or less: it has no place
    std::uint32_t group = 0;
};

/// Where bytes of a strip lie in compacted address space.
[[nodiscard]] inline BlockPlace placeIn(
    const Strip& strip, std::uint64_t address, std::int64_t bytes, std::uint32_t group)
{
    const auto offset = static_cast<std::int64_t>(address - strip.address);
    return { strip.y + offset, std::min(bytes, strip.bytes - offset), group };
}

/// The place of every block, O(1) each.
///
/// A program that trains asks for the same again and again: two million blocks of a real recording lie in
/// 3,000 places. So each block holds the number of its place, in 16 bits as long as they suffice. Where
/// places hardly repeat, it holds strip and group instead, and its place is worked out from its address. 2 to
/// 6 bytes a block of the trace. Immutable; keeps references to what it is built from.
class BlockPlaces {
public:
    template <class Number> using Numbers = Column<Number, 12>; ///< rows of `places`
    template <class Number> struct Mark {
        Number strip, group; ///< the number of strips: none
    };
    template <class Number> using Marks = Column<Mark<Number>, 12>;
    using Table = std::variant<Numbers<std::uint16_t>, Numbers<std::uint32_t>, Marks<std::uint16_t>,
        Marks<std::uint32_t>>;

    /// Stops early, with a useless table, once the token is set.
    BlockPlaces(const BlockColumns& blocks, const StripLayout& strips, const GroupTable& groups,
        const std::stop_token& stop);
    /// Goes on from a table of fewer blocks, with the same strips and the groups grown: a step for each new
    /// block, the first time one for each place, and one for all blocks where the places outgrow the numbers
    /// they have. One thread at a time goes on from a table.
    BlockPlaces(const BlockColumns& blocks, const StripLayout& strips, const GroupTable& groups,
        const BlockPlaces& earlier, const std::stop_token& stop);
    BlockPlaces(BlockPlaces&&) noexcept;
    ~BlockPlaces();

    [[nodiscard]] BlockPlace operator[](BlockId block) const
    {
        if (block.isOlder())
            return m_older[block.row()];
        return std::visit([&](const auto& table) { return at(table, block.row()); }, m_table);
    }

    /// The table by row of blocks of the trace, and what its entries mean: for loops that visit it once.
    [[nodiscard]] const Table& table() const { return m_table; }
    using Places = Column<BlockPlace, 6>;
    [[nodiscard]] const Places& places() const { return m_places; }
    template <class Number> [[nodiscard]] BlockPlace at(const Numbers<Number>& table, std::size_t row) const
    {
        return m_places[table[row]];
    }
    template <class Number> [[nodiscard]] BlockPlace at(const Marks<Number>& table, std::size_t row) const
    {
        const Mark<Number> mark = table[row];
        if (mark.strip >= m_strips.size())
            return { 0, 0, mark.group };
        return placeIn(
            m_strips[mark.strip], m_blocks.address.born[row], m_blocks.requestedBytes.born[row], mark.group);
    }

    [[nodiscard]] std::size_t bytesResident() const;

private:
    [[nodiscard]] BlockPlace placeOf(
        const StripLayout& strips, std::uint64_t address, std::int64_t bytes, std::uint32_t group) const;
    void placeOlder(const StripLayout& strips, const GroupTable& groups);
    class Known; // places, by what is in them
    class Finder; // gives blocks their places
    void placeBorn(const StripLayout& strips, const GroupTable& groups, const std::stop_token& stop);
    bool findPlaces(const StripLayout& strips, const GroupTable& groups, const std::stop_token& stop);
    template <class Rows>
    bool append(Rows& table, const StripLayout& strips, const GroupTable& groups, Known& known,
        const std::stop_token& stop);

    const BlockColumns& m_blocks;
    std::span<const Strip> m_strips;
    std::vector<BlockPlace> m_older; // of blocks older than the trace, which are few
    Places m_places; // empty if the table holds marks
    Column<std::uint32_t, 6> m_firstIn; // of each place: the row of a block that lies there
    Table m_table;
    /// Once the table goes on from another: for the one that goes on from it, which takes it away.
    mutable std::unique_ptr<Known> m_known;
};

} // namespace strata::model
