// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/block_places.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <random>
#include <type_traits>
#include <xxhash.h>

namespace strata::model {

namespace {

constexpr std::size_t kPlacedBetweenStops = std::size_t{ 1 } << 13;
constexpr std::size_t kNarrow = std::size_t{ 1 } << 16;
constexpr std::uint32_t kNoPlace = std::numeric_limits<std::uint32_t>::max();

struct PlaceKey {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::uint64_t group = 0; // wide, so that the key has no padding

    friend bool operator==(const PlaceKey&, const PlaceKey&) = default;
};

/// Seeded at random: crafted addresses cannot make the table slow.
struct PlaceHash {
    using is_avalanching = void;
    std::uint64_t seed = std::random_device{}() | std::uint64_t{ std::random_device{}() } << 32;

    std::size_t operator()(const PlaceKey& key) const { return XXH3_64bits_withSeed(&key, sizeof key, seed); }
};

} // namespace

class BlockPlaces::Known : public boost::unordered_flat_map<PlaceKey, std::uint32_t, PlaceHash> { };

/// Numbers the places.
class BlockPlaces::Finder {
public:
    Finder(BlockPlaces& places, const StripLayout& strips, const GroupTable& groups, Known& known)
        : m_places(places)
        , m_strips(strips)
        , m_groups(groups)
        , m_known(known)
    {
        if (!m_known.empty())
            return;
        m_known.reserve(places.m_firstIn.size());
        for (std::uint32_t number = 0; number < places.m_firstIn.size(); ++number)
            m_known.emplace(keyOf(places.m_firstIn[number]), number);
    }

    /// Of the block in that row; kNoPlace if it needs a new one beyond `most`.
    std::uint32_t of(std::size_t row, std::size_t most)
    {
        const PlaceKey key = keyOf(row);
        const auto next = static_cast<std::uint32_t>(m_places.m_places.size());
        const auto [entry, isNew] = m_known.try_emplace(key, next);
        if (!isNew) [[likely]]
            return entry->second;
        if (next >= most) {
            m_known.erase(entry);
            return kNoPlace;
        }
        m_places.m_places.push_back(
            m_places.placeOf(m_strips, key.address, key.bytes, static_cast<std::uint32_t>(key.group)));
        m_places.m_firstIn.push_back(static_cast<std::uint32_t>(row));
        return next;
    }

private:
    [[nodiscard]] PlaceKey keyOf(std::size_t row) const
    {
        const BlockColumns& blocks = m_places.m_blocks;
        return { blocks.address.born[row], blocks.requestedBytes.born[row],
            m_groups.groupOf(BlockId::born(row)) };
    }

    BlockPlaces& m_places;
    const StripLayout& m_strips;
    const GroupTable& m_groups;
    Known& m_known;
};

BlockPlaces::BlockPlaces(BlockPlaces&&) noexcept = default;
BlockPlaces::~BlockPlaces() = default;

BlockPlaces::BlockPlaces(const BlockColumns& blocks, const StripLayout& strips, const GroupTable& groups,
    const std::stop_token& stop)
    : m_blocks(blocks)
    , m_strips(strips.strips())
{
    placeOlder(strips, groups);
    placeBorn(strips, groups, stop);
}

BlockPlaces::BlockPlaces(const BlockColumns& blocks, const StripLayout& strips, const GroupTable& groups,
    const BlockPlaces& earlier, const std::stop_token& stop)
    : m_blocks(blocks)
    , m_strips(strips.strips())
    , m_places(earlier.m_places)
    , m_firstIn(earlier.m_firstIn)
    , m_table(earlier.m_table)
    , m_known(std::move(earlier.m_known))
{
    placeOlder(strips, groups);
    if (!m_known)
        m_known = std::make_unique<Known>();
    if (std::visit([&](auto& table) { return append(table, strips, groups, *m_known, stop); }, m_table))
        return;
    m_known.reset();
    m_places = {};
    m_firstIn = {};
    placeBorn(strips, groups, stop);
}

BlockPlace BlockPlaces::placeOf(
    const StripLayout& strips, std::uint64_t address, std::int64_t bytes, std::uint32_t group) const
{
    const int strip = strips.stripOf(address);
    return strip < 0 ? BlockPlace{ 0, 0, group }
                     : placeIn(m_strips[static_cast<std::size_t>(strip)], address, bytes, group);
}

void BlockPlaces::placeOlder(const StripLayout& strips, const GroupTable& groups)
{
    m_older.reserve(m_blocks.olderCount());
    for (std::size_t row = 0; row < m_blocks.olderCount(); ++row)
        m_older.push_back(placeOf(strips, m_blocks.address.older[row], m_blocks.requestedBytes.older[row],
            groups.groupOf(BlockId::older(row))));
}

void BlockPlaces::placeBorn(const StripLayout& strips, const GroupTable& groups, const std::stop_token& stop)
{
    if (findPlaces(strips, groups, stop))
        return;
    m_places = {};
    m_firstIn = {};
    if (std::max<std::size_t>(m_strips.size(), groups.count()) < kNarrow)
        m_table = Marks<std::uint16_t>();
    else
        m_table = Marks<std::uint32_t>();
    Known known;
    std::visit([&](auto& table) { (void)append(table, strips, groups, known, stop); }, m_table);
}

/// False if there are too many different places.
bool BlockPlaces::findPlaces(const StripLayout& strips, const GroupTable& groups, const std::stop_token& stop)
{
    Known known;
    Numbers<std::uint16_t> narrow;
    if (append(narrow, strips, groups, known, stop)) {
        m_table = std::move(narrow);
        return true;
    }
    if (m_places.size() < kNarrow)
        return false;
    Numbers<std::uint32_t> wide; // the same and what follows
    for (const std::uint16_t number : narrow)
        wide.push_back(number);
    if (!append(wide, strips, groups, known, stop))
        return false;
    m_table = std::move(wide);
    return true;
}

/// The blocks that the table does not hold yet. False if its numbers do not suffice.
template <class Rows>
bool BlockPlaces::append(Rows& table, const StripLayout& strips, const GroupTable& groups, Known& known,
    const std::stop_token& stop)
{
    const std::size_t count = m_blocks.bornCount();
    using Entry = std::remove_cvref_t<decltype(table[0])>;
    if constexpr (std::is_integral_v<Entry>) {
        const std::size_t most = std::min<std::size_t>(count / 16 + 256, // 1.75 bytes a block
            sizeof(Entry) == 2 ? kNarrow : kNoPlace);
        Finder finder(*this, strips, groups, known);
        for (std::size_t row = table.size(); row < count; ++row) {
            if (row % kPlacedBetweenStops == 0 && stop.stop_requested())
                return true;
            const std::uint32_t number = finder.of(row, most);
            if (number == kNoPlace)
                return false;
            table.push_back(static_cast<Entry>(number));
        }
    } else {
        using Number = decltype(Entry::strip);
        if (std::max<std::size_t>(m_strips.size(), groups.count()) > std::numeric_limits<Number>::max())
            return false;
        for (std::size_t row = table.size(); row < count; ++row) {
            if (row % kPlacedBetweenStops == 0 && stop.stop_requested())
                return true;
            const int strip = strips.stripOf(m_blocks.address.born[row]);
            table.push_back(
                { static_cast<Number>(strip < 0 ? m_strips.size() : static_cast<std::size_t>(strip)),
                    static_cast<Number>(groups.groupOf(BlockId::born(row))) });
        }
    }
    return true;
}

std::size_t BlockPlaces::bytesResident() const
{
    return m_older.capacity() * sizeof(BlockPlace) + m_places.bytesResident() + m_firstIn.bytesResident()
        + std::visit([](const auto& table) { return table.bytesResident(); }, m_table);
}

} // namespace strata::model
