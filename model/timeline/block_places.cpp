// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/block_places.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <random>
#include <xxhash.h>

namespace strata::model {

namespace {

constexpr std::size_t kBlocksBetweenStops = std::size_t{ 1 } << 13;
constexpr std::size_t kNarrow = std::size_t{ 1 } << 16;

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

BlockPlaces::BlockPlaces(const BlockColumns& blocks, const StripLayout& strips, const GroupTable& groups,
    const std::stop_token& stop)
    : m_blocks(blocks)
    , m_strips(strips.strips())
{
    if (!findPlaces(strips, groups, stop))
        mark(strips, groups, stop);
}

/// False if there are too many different places.
bool BlockPlaces::findPlaces(const StripLayout& strips, const GroupTable& groups, const std::stop_token& stop)
{
    const std::size_t count = m_blocks.size();
    const std::size_t most = count / 16 + 256; // 1.5 bytes a block
    boost::unordered_flat_map<PlaceKey, std::uint32_t, PlaceHash> known;
    Numbers<std::uint32_t> wide(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (i % kBlocksBetweenStops == 0 && stop.stop_requested())
            return true;
        const BlockId block{ static_cast<std::uint32_t>(i) };
        const PlaceKey key{ m_blocks.address[i], m_blocks.requestedBytes[i], groups.groupOf(block) };
        const auto [entry, isNew] = known.try_emplace(key, static_cast<std::uint32_t>(m_places.size()));
        if (isNew) {
            if (m_places.size() == most) {
                m_places = std::vector<BlockPlace>();
                return false;
            }
            const int strip = strips.stripOf(key.address);
            const std::uint32_t group = groups.groupOf(block);
            m_places.push_back(strip < 0
                    ? BlockPlace{ 0, 0, group }
                    : placeIn(m_strips[static_cast<std::size_t>(strip)], key.address, key.bytes, group));
        }
        wide[i] = entry->second;
    }
    m_places.shrink_to_fit();
    if (m_places.size() <= kNarrow)
        m_table = Numbers<std::uint16_t>(wide.begin(), wide.end());
    else
        m_table = std::move(wide);
    return true;
}

void BlockPlaces::mark(const StripLayout& strips, const GroupTable& groups, const std::stop_token& stop)
{
    const std::size_t count = m_blocks.size();
    const auto fill = [&](auto marks) {
        using Number = decltype(marks[0].strip);
        for (std::size_t i = 0; i < count; ++i) {
            if (i % kBlocksBetweenStops == 0 && stop.stop_requested())
                break;
            const int strip = strips.stripOf(m_blocks.address[i]);
            marks[i].strip
                = static_cast<Number>(strip < 0 ? m_strips.size() : static_cast<std::size_t>(strip));
            marks[i].group = static_cast<Number>(groups.groupOf(BlockId{ static_cast<std::uint32_t>(i) }));
        }
        m_table = std::move(marks);
    };
    if (std::max<std::size_t>(m_strips.size(), groups.count()) < kNarrow)
        fill(Marks<std::uint16_t>(count));
    else
        fill(Marks<std::uint32_t>(count));
}

std::size_t BlockPlaces::bytesResident() const
{
    return m_places.capacity() * sizeof(BlockPlace)
        + std::visit([](const auto& table) { return table.capacity() * sizeof(table[0]); }, m_table);
}

} // namespace strata::model
