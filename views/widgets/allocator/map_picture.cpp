// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/map_picture.h"

#include "views/style/texts.h"

#include <QCoreApplication>

#include <algorithm>
#include <tuple>

namespace strata::views {

namespace {

struct MapTexts {
    Q_DECLARE_TR_FUNCTIONS(AddressMap)
};

using model::MapSegment;

bool isPrivate(const model::Recording& recording, const MapSegment& segment)
{
    return segment.pool != model::kNoIndex
        && (recording.pools[segment.pool].owner != 0 || recording.pools[segment.pool].id != 0);
}

/// What tells sections apart, in their order: default pools first, large before small.
auto sectionKey(const model::Recording& recording, const MapSegment& segment)
{
    const model::Pool pool = segment.pool == model::kNoIndex ? model::Pool() : recording.pools[segment.pool];
    return std::tuple(isPrivate(recording, segment), pool.owner, pool.id, model::isSmall(recording, segment),
        segment.stream, segment.expandable);
}

QString sectionTitle(const model::Recording& recording, const MapSegment& segment)
{
    const QString pool = isPrivate(recording, segment)
        ? MapTexts::tr("Private pool %1")
              .arg(QStringLiteral("(%1, %2)")
                       .arg(recording.pools[segment.pool].owner)
                       .arg(recording.pools[segment.pool].id))
        : MapTexts::tr("Default pool");
    const QString kind
        = model::isSmall(recording, segment) ? MapTexts::tr("small blocks") : MapTexts::tr("large blocks");
    QString title
        = MapTexts::tr("%1, %2, stream %3").arg(pool, kind, text::stream(recording, segment.stream));
    if (segment.expandable)
        title = MapTexts::tr("%1, expandable").arg(title);
    return title;
}

/// Pages of one range lie no further apart than what was ever mapped at once.
bool isSameRange(const MapRow& row, const MapSegment& next, std::int64_t reservedPeak)
{
    return next.expandable && next.address >= row.address
        && next.address - row.address - static_cast<std::uint64_t>(row.spanBytes)
        <= static_cast<std::uint64_t>(std::max<std::int64_t>(reservedPeak, 0));
}

/// The shortest line, a power of two, that lets few rows go on in further ones.
std::int64_t lineBytesFor(const MapPicture& picture, const MapSection& section)
{
    constexpr std::int64_t kMoreLines = 24;
    std::int64_t bytes = std::int64_t{ 2 } << 20;
    const auto lines = [&] {
        std::int64_t all = 0;
        for (std::uint32_t r = section.firstRow; r < section.firstRow + section.rowCount; ++r)
            all += (picture.rows[r].spanBytes + bytes - 1) / bytes;
        return all;
    };
    while (bytes < section.widestBytes && lines() > section.rowCount + kMoreLines)
        bytes *= 2;
    return bytes;
}

void addRefused(MapPicture& picture)
{
    const model::DeviceTrace& trace = *picture.device->trace;
    const model::EventIndex event = picture.map.event;
    if (event < 0 || trace.events().action[static_cast<std::size_t>(event)] != model::Action::Oom)
        return;
    RefusedRequest refused;
    refused.bytes = trace.events().bytes[static_cast<std::size_t>(event)];
    std::int64_t largest = 0;
    for (std::uint32_t r = 0; r < picture.rows.size(); ++r) {
        const MapRow& row = picture.rows[r];
        if (isPrivate(trace.recording(), picture.map.segments[row.first]))
            continue;
        for (std::uint32_t s = row.first; s < row.first + row.count; ++s) {
            const MapSegment& segment = picture.map.segments[s];
            for (std::uint32_t b = segment.firstBlock; b < segment.firstBlock + segment.blockCount; ++b)
                if (const model::MapBlock& block = picture.map.blocks[b];
                    block.isFree() && block.bytes > largest) {
                    largest = block.bytes;
                    refused.hole = b;
                    refused.row = r;
                }
        }
    }
    picture.refused = refused;
}

} // namespace

std::int64_t MapPicture::reservedBytes() const
{
    std::int64_t bytes = 0;
    for (const MapSection& section : sections)
        bytes += section.bytes;
    return bytes;
}

std::optional<std::uint32_t> MapPicture::rowAt(std::uint64_t address) const
{
    for (std::uint32_t r = 0; r < rows.size(); ++r)
        if (address >= rows[r].address
            && address - rows[r].address < static_cast<std::uint64_t>(rows[r].spanBytes))
            return r;
    return std::nullopt;
}

std::optional<std::uint32_t> MapPicture::blockAt(std::uint64_t address) const
{
    const auto row = rowAt(address);
    if (!row)
        return std::nullopt;
    const MapSegment& first = map.segments[rows[*row].first];
    const MapSegment& last = map.segments[rows[*row].first + rows[*row].count - 1];
    const auto begin = map.blocks.begin() + first.firstBlock;
    const auto end = map.blocks.begin() + last.firstBlock + last.blockCount;
    auto behind = std::upper_bound(begin, end, address,
        [](std::uint64_t wanted, const model::MapBlock& block) { return wanted < block.address; });
    if (behind == begin || address >= std::prev(behind)->end())
        return std::nullopt;
    return static_cast<std::uint32_t>(std::prev(behind) - map.blocks.begin());
}

std::shared_ptr<const MapPicture> mapPicture(
    std::shared_ptr<const DeviceData> device, model::EventIndex event)
{
    auto picture = std::make_shared<MapPicture>();
    picture->device = std::move(device);
    const DeviceData& data = *picture->device;
    const model::DeviceTrace& trace = *data.trace;
    const model::Recording& recording = trace.recording();
    const model::ReplayReport* const report = data.replay ? data.replay->report.get() : nullptr;
    model::AllocatorMap& map = picture->map;
    map = model::allocatorMapAt(trace, event, data.timeline->live().liveAtUnordered(event), report);
    // Rows in the order of sections: blocks follow their segments.
    std::ranges::stable_sort(
        map.segments, {}, [&](const MapSegment& segment) { return sectionKey(recording, segment); });
    picture->fragmentation = model::fragmentationOf(
        trace, map, report != nullptr ? report->settings : model::AllocatorSettings());

    const std::int64_t reservedPeak = trace.totals().reservedBytesPeak;
    for (std::uint32_t s = 0; s < map.segments.size(); ++s) {
        const MapSegment& segment = map.segments[s];
        const bool starts
            = s == 0 || sectionKey(recording, segment) != sectionKey(recording, map.segments[s - 1]);
        if (starts)
            picture->sections.push_back({ sectionTitle(recording, segment),
                static_cast<std::uint32_t>(picture->rows.size()), 0, 0, 0, 0, 0 });
        MapSection& section = picture->sections.back();
        if (starts || !isSameRange(picture->rows.back(), segment, reservedPeak)) {
            picture->rows.push_back(
                { s, 0, segment.address, 0, 0, 0, static_cast<std::uint32_t>(picture->sections.size() - 1) });
            ++section.rowCount;
        }
        MapRow& row = picture->rows.back();
        ++row.count;
        row.spanBytes = static_cast<std::int64_t>(segment.address - row.address) + segment.bytes;
        row.bytes += segment.bytes;
        row.freeBytes += segment.freeBytes();
        section.bytes += segment.bytes;
        section.freeBytes += segment.freeBytes();
        section.widestBytes = std::max(section.widestBytes, row.spanBytes);
    }
    for (MapSection& section : picture->sections)
        section.lineBytes = lineBytesFor(*picture, section);
    addRefused(*picture);
    return picture;
}

} // namespace strata::views
