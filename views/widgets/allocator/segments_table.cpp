// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/segments_table.h"

#include "views/models/tables/table_cells.h"
#include "views/style/texts.h"

#include <algorithm>

namespace strata::views {

namespace {

const QString kSizeSample = QStringLiteral("1,023");
const QString kUnit = QStringLiteral("MiB");
const QString kAddressSample = QStringLiteral("0xbbbbbbbbbbbb");

TableCell lineOf(const DeviceData& device, model::BlockId block)
{
    TableCell cell = lineCell(device.trace->recording(), device.trace->blocks().stack[block]);
    const std::uint32_t group = device.byLine->groupOf(block);
    if (group < device.lineRank.size())
        cell.swatch = device.lineRank[group];
    return cell;
}

} // namespace

SegmentsTable::SegmentsTable(std::shared_ptr<const MapPicture> picture)
    : PlainTable({
        { { tr("Address"), tr("Where the segment begins"), kAddressSample, true }, "address" },
        { { tr("Size"), tr("Reserved: what the driver gave"), kSizeSample, true, kUnit }, "total_size" },
        { { tr("In use"), tr("By blocks, rounding included"), kSizeSample, true, kUnit }, "allocated_size" },
        { { tr("Pending"), tr("Freed, but another stream may still use it"), kSizeSample, true, kUnit },
            "pending_free_bytes" },
        { { tr("Free"), tr("In no block"), kSizeSample, true, kUnit }, "free_bytes" },
        { { tr("Largest free"), tr("No larger request is served from here"), kSizeSample, true, kUnit },
            "largest_free_bytes" },
        { { tr("Biggest line"), tr("The line whose blocks take most of it"),
              QStringLiteral("transformer.py:1234"), false, {}, true },
            "line" },
        { { tr("Blocks"), tr("That are in use"), QStringLiteral("88,888"), true }, "blocks" },
        { { tr("Pool"), tr("Pool of the caching allocator"), QStringLiteral("large"), false, {}, true },
            "pool" },
        { { tr("Stream"), tr("Whose blocks it holds"), QStringLiteral("0x8888888"), true }, "stream" },
    })
    , m_picture(std::move(picture))
{
    const model::GroupTable& byLine = *m_picture->device->byLine;
    std::vector<std::int64_t> bytesOf(byLine.count());
    m_counted.reserve(m_picture->rows.size());
    for (const MapRow& row : m_picture->rows) {
        Counted& counted = m_counted.emplace_back();
        const auto forEachUsed = [&](const auto& visit) {
            for (std::uint32_t s = row.first; s < row.first + row.count; ++s)
                for (const model::MapBlock& block : m_picture->map.blocksOf(m_picture->map.segments[s]))
                    if (block.isFree())
                        counted.largestFree = std::max(counted.largestFree, block.bytes);
                    else
                        visit(block, bytesOf[byLine.groupOf(block.block)]);
        };
        std::int64_t most = 0;
        forEachUsed([&](const model::MapBlock& block, std::int64_t& ofLine) {
            ++counted.blocks;
            counted.pendingBytes += block.pending ? block.bytes : 0;
            ofLine += block.bytes;
            if (ofLine > std::exchange(most, std::max(most, ofLine)))
                counted.ofBiggestLine = block.block;
        });
        forEachUsed([](const model::MapBlock&, std::int64_t& ofLine) { ofLine = 0; });
    }
}

std::optional<std::int64_t> SegmentsTable::figure(std::uint32_t number, int column) const
{
    const MapRow& row = m_picture->rows[number];
    switch (column) {
    case Address:
        return static_cast<std::int64_t>(row.address);
    case Size:
        return row.bytes;
    case InUse:
        return row.bytes - row.freeBytes - m_counted[number].pendingBytes;
    case Pending:
        return m_counted[number].pendingBytes;
    case Free:
        return row.freeBytes;
    case Largest:
        return m_counted[number].largestFree;
    case Blocks:
        return m_counted[number].blocks;
    default:
        return std::nullopt;
    }
}

std::string SegmentsTable::text(std::uint32_t number, int column) const
{
    if (column != Line)
        return cell(number, column).text.toStdString();
    const model::GroupTable& byLine = *m_picture->device->byLine;
    const model::BlockId block = m_counted[number].ofBiggestLine;
    return block.valid() ? byLine.label(byLine.groupOf(block)) : std::string();
}

TableCell SegmentsTable::cell(std::uint32_t number, int column) const
{
    const MapRow& row = m_picture->rows[number];
    const model::Recording& recording = m_picture->device->trace->recording();
    const model::MapSegment& segment = m_picture->map.segments[row.first];
    switch (column) {
    case Address:
        return { text::address(row.address), {} };
    case Blocks:
        return { text::count(m_counted[number].blocks), {} };
    case Pool: {
        QString pool = segment.pool == model::kNoIndex
            ? (model::isSmall(recording, segment) ? tr("small") : tr("large"))
            : text::utf8(model::poolLabel(recording, segment.pool));
        if (segment.expandable)
            pool = row.count > 1 ? tr("%1, expandable, %2 stretches").arg(pool).arg(row.count)
                                 : tr("%1, expandable").arg(pool);
        return { pool, {} };
    }
    case Stream:
        return { text::stream(recording, segment.stream), {} };
    case Line:
        return m_counted[number].ofBiggestLine.valid()
            ? lineOf(*m_picture->device, m_counted[number].ofBiggestLine)
            : TableCell{};
    default:
        return bytesCell(*figure(number, column));
    }
}

PinnedTable::PinnedTable(std::shared_ptr<const MapPicture> picture)
    : PlainTable({
        { { tr("Segment"), tr("Where it begins"), kAddressSample, true }, "address" },
        { { tr("Free in it"), tr("What cannot be given back, since the segment holds live blocks"),
              kSizeSample, true, kUnit },
            "free_bytes" },
        { { tr("Size"), tr("Of the segment"), kSizeSample, true, kUnit }, "total_size" },
        { { tr("Pinned by"), tr("The line that allocated its largest live block"),
              QStringLiteral("transformer.py:1234"), false, {}, true },
            "line" },
        { { tr("Block"), tr("Size of that block, rounded"), kSizeSample, true, kUnit }, "bytes" },
        { { tr("Age (events)"), tr("Since it was allocated; before: in the trace it is there from the start"),
              QStringLiteral("8,888,888"), true },
            "age_events" },
        { { tr("Gives back"), tr("What empty_cache() would return more if this block alone were free"),
              kSizeSample, true, kUnit },
            "gives_back_bytes" },
    })
    , m_picture(std::move(picture))
{
}

model::StackId PinnedTable::stackOf(std::uint32_t row) const
{
    return m_picture->device->trace->blocks().stack[pinned(row).pins.front().block];
}

QString PinnedTable::stackText(std::uint32_t row) const
{
    return text::stack(m_picture->device->trace->recording(), stackOf(row));
}

std::optional<std::int64_t> PinnedTable::figure(std::uint32_t row, int column) const
{
    const model::PinnedSegment& of = pinned(row);
    const model::MapSegment& segment = m_picture->map.segments[of.segment];
    const model::Pin& pin = of.pins.front();
    switch (column) {
    case Address:
        return static_cast<std::int64_t>(segment.address);
    case Free:
        return of.freeBytes;
    case Size:
        return segment.bytes;
    case PinBytes:
        return pin.bytes;
    case Age:
        return pin.ageEvents;
    case GivesBack:
        return pin.givesBackBytes;
    default:
        return std::nullopt;
    }
}

std::string PinnedTable::text(std::uint32_t row, int column) const
{
    const model::GroupTable& byLine = *m_picture->device->byLine;
    return column == Pin ? byLine.label(byLine.groupOf(pinned(row).pins.front().block)) : std::string();
}

TableCell PinnedTable::cell(std::uint32_t row, int column) const
{
    switch (column) {
    case Address:
        return { text::address(m_picture->map.segments[pinned(row).segment].address), {} };
    case Age:
        if (pinned(row).pins.front().block.isOlder())
            return noteCell(tr("before"));
        return { text::count(*figure(row, column)), {} };
    case Pin: {
        TableCell cell = lineOf(*m_picture->device, pinned(row).pins.front().block);
        if (pinned(row).pins.front().pending)
            cell.note = tr("pending free");
        return cell;
    }
    default:
        return bytesCell(*figure(row, column));
    }
}

SettingsTable::SettingsTable(std::shared_ptr<const std::vector<model::SettingTried>> tried)
    : FieldTable(withServesColumn(
        {
            { { tr("Settings"), tr("All settings, as they are to be set"),
                  QStringLiteral("expandable_segments:True"), false, {}, true },
                "set" },
            { { tr("Reserved peak"),
                  tr("By replay of this recording; with endless memory where a request is refused"),
                  kSizeSample, true, kUnit },
                "reserved_bytes_peak" },
            { { tr("Saved"), tr("Of the reserved peak with the recorded settings, by the same replay"),
                  kSizeSample, true, tr("MiB more") },
                "saved_bytes" },
            { { tr("Segments made"), tr("Calls of the driver for memory"), QStringLiteral("888,888"), true },
                "device_mallocs" },
            { { tr("How sure"),
                  tr("Exact: the replay of the recording is, and nothing in it depends on time. Out of "
                     "memory: a "
                     "request "
                     "that was served would be refused"),
                  QStringLiteral("out of memory"), false },
                "exact" },
        },
        !tried->empty() && tried->front().servesRequest))
    , m_tried(std::move(tried))
{
}

TableCell SettingsTable::cell(std::uint32_t row, int column) const
{
    const model::SettingTried& of = setting(row);
    switch (column) {
    case Settings:
        return of.settings.empty() ? noteCell(tr("the defaults")) : TableCell{ text::utf8(of.settings), {} };
    case Saved:
        return savedCell(of.need.savedBytes());
    case Exact:
        return noteCell(of.refusesMore ? tr("out of memory") : of.exact ? tr("exact") : tr("estimate"));
    case Serves:
        return servesCell(of.servesRequest);
    default:
        return FieldTable::cell(row, column);
    }
}

} // namespace strata::views
