// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/pictures.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace strata::model {

namespace {

/// A block that is live at the sampled events of columns first .. end - 1.
struct Stay {
    BlockId block;
    int first = 0;
    int end = 0;
};

constexpr std::size_t kPaintedBetweenStops = std::size_t{ 1 } << 14;

EventIndex deathOf(EventId death)
{
    return death.valid() ? static_cast<EventIndex>(death.value) : std::numeric_limits<EventIndex>::max();
}

/// Every block that is live at one of the sampled events (which never fall). Most blocks of a wide window
/// live between two samples: they cost one comparison.
std::vector<Stay> staysAt(const std::vector<EventIndex>& samples, const BlockColumns& blocks,
    const LiveIndex& live, std::stop_token stop)
{
    std::vector<Stay> stays;
    const auto add = [&](BlockId block, std::vector<EventIndex>::const_iterator first, EventIndex death) {
        const auto end = std::lower_bound(first, samples.end(), death);
        stays.push_back(
            { block, static_cast<int>(first - samples.begin()), static_cast<int>(end - samples.begin()) });
    };
    for (const BlockId block : live.liveAtUnordered(samples.front()))
        add(block, samples.begin(), blocks.death(block));

    auto column = samples.begin();
    const std::size_t end = live.rowsBornUpTo(samples.back());
    for (std::size_t row = live.rowsBornUpTo(samples.front()); row < end;) {
        if (stop.stop_requested())
            return {};
        const std::span<const EventId> births = blocks.alloc.run(row);
        const std::span<const EventId> deaths = blocks.freeCompleted.born.run(row);
        const std::size_t count = std::min({ births.size(), end - row, kPaintedBetweenStops });
        for (std::size_t i = 0; i < count; ++i) {
            while (column != samples.end() && *column < static_cast<EventIndex>(births[i].value))
                ++column;
            if (column == samples.end())
                return stays;
            const EventIndex death = deathOf(deaths[i]);
            if (*column < death)
                add(BlockId::born(row + i), column, death);
        }
        row += count;
    }
    return stays;
}

/// Sorts blocks into layers and adds them up, as differences between neighbouring columns.
class Stack {
public:
    Stack(const DeviceTrace& trace, const GroupTable& groups, const BlockMatcher* filter, int columns)
        : m_blocks(trace.blocks())
        , m_groups(groups)
        , m_filter(filter)
        , m_olderApart(!infoOf(groups.grouping()).ofLabels)
        , m_columns(static_cast<std::size_t>(columns))
        , m_layerOfGroup(groups.count(), kAbsent)
    {
    }

    void build(
        const std::vector<Stay>& stays, const std::vector<std::uint32_t>& order, StackedPicture& picture)
    {
        bool special[3] = { false, false, false };
        for (const Stay& stay : stays) {
            if (const Kind kind = kindOf(stay.block); kind == Kind::Group)
                m_layerOfGroup[m_groups.groupOf(stay.block)] = kPresent;
            else
                special[index(kind)] = true;
        }
        addLayers(order, special, picture);

        std::vector<std::uint64_t> sums(picture.layers.size() * m_columns, 0); // modulo 2^64
        for (const Stay& stay : stays) {
            const std::uint64_t bytes = static_cast<std::uint64_t>(m_blocks.requestedBytes[stay.block]);
            std::uint64_t* const row = sums.data() + layerOf(stay.block) * m_columns;
            row[stay.first] += bytes;
            if (static_cast<std::size_t>(stay.end) < m_columns)
                row[stay.end] -= bytes;
        }
        picture.bytes.resize(sums.size());
        for (std::size_t layer = 0; layer < picture.layers.size(); ++layer) {
            std::uint64_t sum = 0;
            for (std::size_t i = layer * m_columns; i < (layer + 1) * m_columns; ++i) {
                sum += sums[i];
                picture.bytes[i] = static_cast<std::int64_t>(sum);
            }
        }
    }

private:
    using Kind = StackedPicture::Layer::Kind;
    static constexpr std::uint32_t kAbsent = 0xffffffffu;
    static constexpr std::uint32_t kPresent = 0xfffffffeu;

    static std::size_t index(Kind kind)
    {
        return kind == Kind::BeforeTrace ? 0 : kind == Kind::Other ? 1 : 2;
    }

    Kind kindOf(BlockId block) const
    {
        if (m_filter && !(*m_filter)(block))
            return Kind::FilteredOut;
        return block.isOlder() && m_olderApart ? Kind::BeforeTrace : Kind::Group;
    }

    std::size_t layerOf(BlockId block) const
    {
        const Kind kind = kindOf(block);
        if (kind != Kind::Group)
            return m_special[index(kind)];
        const std::uint32_t layer = m_layerOfGroup[m_groups.groupOf(block)];
        return layer == kPresent ? m_special[index(Kind::Other)] : layer;
    }

    void addLayers(const std::vector<std::uint32_t>& order, bool (&special)[3], StackedPicture& picture)
    {
        const auto addSpecial = [&](Kind kind) {
            if (!special[index(kind)])
                return;
            m_special[index(kind)] = picture.layers.size();
            picture.layers.push_back({ kAbsent, kind });
        };
        addSpecial(Kind::BeforeTrace);
        int shown = 0;
        for (const std::uint32_t group : order) {
            if (group >= m_layerOfGroup.size() || m_layerOfGroup[group] != kPresent)
                continue;
            if (shown == kStackedGroups)
                break;
            ++shown;
            m_layerOfGroup[group] = static_cast<std::uint32_t>(picture.layers.size());
            picture.layers.push_back({ group, Kind::Group });
        }
        special[index(Kind::Other)]
            = std::find(m_layerOfGroup.begin(), m_layerOfGroup.end(), kPresent) != m_layerOfGroup.end();
        addSpecial(Kind::Other);
        addSpecial(Kind::FilteredOut);
    }

    const BlockColumns& m_blocks;
    const GroupTable& m_groups;
    const BlockMatcher* m_filter;
    bool m_olderApart;
    std::size_t m_columns;
    std::vector<std::uint32_t> m_layerOfGroup;
    std::size_t m_special[3] = { 0, 0, 0 };
};

} // namespace

std::vector<CurveRange> curveColumns(const Curve& curve, const Clock& clock, const ColumnWindow& window)
{
    return curve.columns(columnEdges(window, clock));
}

StackedPicture stackedPicture(const DeviceTrace& trace, const Clock& clock, const Curve& requested,
    const LiveIndex& live, const GroupTable& groups, const std::vector<std::uint32_t>& layerOrder,
    const BlockMatcher* filter, const ColumnWindow& window, std::stop_token stop)
{
    StackedPicture picture;
    for (const CurveRange& range : curveColumns(requested, clock, window)) {
        picture.event.push_back(range.maxEvent);
        picture.total.push_back(range.max);
    }
    if (picture.event.empty())
        return picture;
    const std::vector<Stay> stays = staysAt(picture.event, trace.blocks(), live, stop);
    if (stop.stop_requested())
        return {};
    picture.columns = window.columns;
    Stack(trace, groups, filter, picture.columns).build(stays, layerOrder, picture);
    return picture;
}

} // namespace strata::model
