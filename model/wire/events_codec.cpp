// SPDX-License-Identifier: Apache-2.0
#include "model/wire/events_codec.h"

#include <algorithm>
#include <unordered_map>

namespace strata::wire {
namespace {

// Columns, each a stream of its own, since like values pack best beside like:
//
//     Action    a byte each
//     Place     0: the address of the row before; k: address number k - 1 of this chunk, new if it is the
//     next Address   of each new one: difference to the new one before Bytes     difference to what was last
//     seen at that address for a row that ends something, else as it is Stream, Stack, Pool   0: as the row
//     before; else value + 2, none being 1 Time      difference to the row before, in the unit of the head
//     Thread    0: as the row before; else the number as the system counts, plus 1
//     Phase     a byte each
//     Module    as Stream, of rows that allocate alone
enum class ColumnId : std::uint8_t {
    Action = 1,
    Place,
    Address,
    Bytes,
    Stream,
    Stack,
    Pool,
    Time,
    Sparse,
    Thread,
    Phase,
    Module
};
constexpr std::uint8_t kLastColumn = static_cast<std::uint8_t>(ColumnId::Module);

/// Rows whose size is that of the row that began what they end.
bool ends(EventAction action)
{
    return action == EventAction::FreeRequested || action == EventAction::FreeCompleted
        || action == EventAction::SegmentFree || action == EventAction::SegmentUnmap;
}

std::int64_t difference(std::uint64_t a, std::uint64_t b)
{
    return static_cast<std::int64_t>(a - b);
}
std::int64_t difference(std::int64_t a, std::int64_t b)
{
    return difference(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
}
std::int64_t sum(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

void putSame(ByteWriter& out, std::uint32_t value, std::uint32_t& last)
{
    out.varint(value == last ? 0 : value == kNone ? 1 : std::uint64_t{ value } + 2);
    last = value;
}

std::uint32_t getSame(ByteReader& in, std::uint32_t& last)
{
    const std::uint64_t code = in.varint();
    if (code > std::uint64_t{ kNone } + 1)
        in.fail();
    else if (code > 0)
        last = code == 1 ? kNone : static_cast<std::uint32_t>(code - 2);
    return last;
}

/// What few recordings tell takes no room in the others.
struct Told {
    bool threads = false, phases = false, modules = false;

    explicit Told(std::span<const EventRow> rows)
    {
        for (const EventRow& row : rows) {
            threads = threads || row.thread != 0;
            phases = phases || row.phase != EventPhase::Unknown;
            modules = modules || row.module != kNone;
        }
    }
};

} // namespace

void encodeEvents(const EventChunk& chunk, Bytes& out)
{
    Bytes columns[kLastColumn + 1];
    const auto column = [&](ColumnId id) { return ByteWriter(columns[static_cast<std::size_t>(id)]); };
    ByteWriter action = column(ColumnId::Action), place = column(ColumnId::Place),
               address = column(ColumnId::Address), bytes = column(ColumnId::Bytes),
               stream = column(ColumnId::Stream), stack = column(ColumnId::Stack),
               pool = column(ColumnId::Pool), time = column(ColumnId::Time),
               sparse = column(ColumnId::Sparse), thread = column(ColumnId::Thread),
               phase = column(ColumnId::Phase), module = column(ColumnId::Module);
    const Told told(chunk.rows);

    // Most recorders know microseconds: what they wrote as nanoseconds ends in three zeros.
    std::int64_t unit = 1000;
    for (const EventRow& row : chunk.rows)
        if (row.timeNs % 1000 != 0)
            unit = 1;

    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::vector<std::int64_t> lastBytes;
    std::uint64_t lastAddress = 0, lastNew = 0;
    std::uint32_t lastStream = kNone, lastStack = kNone, lastPool = kNone, lastModule = kNone;
    std::uint32_t lastThread = 0;
    std::int64_t lastTime = 0;
    std::size_t lastNumber = 0;
    bool first = true;
    for (const EventRow& row : chunk.rows) {
        action.byte(static_cast<std::uint8_t>(row.action));
        if (!first && row.address == lastAddress) {
            place.varint(0);
        } else {
            const auto [entry, isNew]
                = numbers.try_emplace(row.address, static_cast<std::uint32_t>(lastBytes.size()));
            place.varint(std::uint64_t{ entry->second } + 1);
            if (isNew) {
                address.signedVarint(difference(row.address, lastNew));
                lastNew = row.address;
                lastBytes.push_back(0);
            }
            lastNumber = entry->second;
            lastAddress = row.address;
        }
        first = false;
        bytes.signedVarint(ends(row.action) ? difference(row.bytes, lastBytes[lastNumber]) : row.bytes);
        lastBytes[lastNumber] = row.bytes;
        putSame(stream, row.stream, lastStream);
        putSame(stack, row.stack, lastStack);
        putSame(pool, row.pool, lastPool);
        if (told.modules && row.action == EventAction::Alloc)
            putSame(module, row.module, lastModule);
        if (told.threads) {
            thread.varint(row.thread == lastThread ? 0 : std::uint64_t{ row.thread } + 1);
            lastThread = row.thread;
        }
        if (told.phases)
            phase.byte(static_cast<std::uint8_t>(row.phase));
        if (chunk.hasTimes) {
            time.signedVarint(difference(row.timeNs / unit, lastTime));
            lastTime = row.timeNs / unit;
        }
    }
    for (const std::vector<SparseText>& kind : chunk.sparse) {
        sparse.varint(kind.size());
        std::uint32_t lastRow = 0;
        for (const SparseText& item : kind) {
            sparse.varint(item.row - lastRow);
            sparse.varint(item.string);
            lastRow = item.row;
        }
    }

    ByteWriter head(out);
    head.signedVarint(chunk.device);
    head.varint(chunk.firstEvent);
    head.varint(chunk.rows.size());
    head.varint(chunk.hasTimes ? static_cast<std::uint64_t>(unit) : 0);
    for (std::uint8_t id = 1; id <= kLastColumn; ++id) {
        if (columns[id].empty())
            continue;
        head.byte(id);
        head.varint(columns[id].size());
        head.bytes(columns[id]);
    }
}

bool decodeEvents(std::span<const std::byte> payload, EventChunk& chunk)
{
    ByteReader in(payload);
    const std::int64_t device = in.signedVarint();
    chunk.firstEvent = in.varint();
    const std::size_t rows = in.count(); // at least the byte of its action each
    const std::uint64_t unit = in.varint();
    if (!in.ok() || rows > kMaxEventsAChunk || unit > 1'000'000'000 || device < INT32_MIN
        || device > INT32_MAX)
        return false;
    chunk.device = static_cast<std::int32_t>(device);
    chunk.hasTimes = unit != 0;
    std::span<const std::byte> columns[kLastColumn + 1];
    while (!in.atEnd() && in.ok()) {
        const std::uint8_t id = in.byte();
        const std::span<const std::byte> content = in.bytes(in.varint());
        if (id >= 1 && id <= kLastColumn) // others are of a newer minor version
            columns[id] = content;
    }
    if (!in.ok())
        return false;

    const auto column = [&](ColumnId id) { return ByteReader(columns[static_cast<std::size_t>(id)]); };
    ByteReader action = column(ColumnId::Action), place = column(ColumnId::Place),
               address = column(ColumnId::Address), bytes = column(ColumnId::Bytes),
               stream = column(ColumnId::Stream), stack = column(ColumnId::Stack),
               pool = column(ColumnId::Pool), time = column(ColumnId::Time),
               sparse = column(ColumnId::Sparse), thread = column(ColumnId::Thread),
               phase = column(ColumnId::Phase), module = column(ColumnId::Module);
    const bool hasThreads = !thread.atEnd(), hasPhases = !phase.atEnd(), hasModules = !module.atEnd();
    if (action.left() < rows || (hasPhases && phase.left() < rows))
        return false;

    struct Place {
        std::uint64_t address = 0;
        std::int64_t bytes = 0;
    };
    std::vector<Place> places;
    std::uint64_t lastNew = 0;
    std::uint32_t lastStream = kNone, lastStack = kNone, lastPool = kNone, lastModule = kNone;
    std::uint32_t lastThread = 0;
    std::int64_t lastTime = 0;
    std::size_t number = 0;
    chunk.rows.clear();
    chunk.rows.reserve(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        EventRow row;
        const std::uint8_t code = action.byte();
        if (code >= kActionCount)
            return false;
        row.action = static_cast<EventAction>(code);
        const std::uint64_t at = place.varint();
        if (at > places.size() + 1 || (at == 0 && places.empty()))
            return false;
        if (at > 0)
            number = static_cast<std::size_t>(at - 1);
        if (number == places.size()) {
            lastNew += static_cast<std::uint64_t>(address.signedVarint());
            places.push_back({ lastNew, 0 });
        }
        row.address = places[number].address;
        row.bytes = bytes.signedVarint();
        if (ends(row.action))
            row.bytes = sum(row.bytes, places[number].bytes);
        places[number].bytes = row.bytes;
        row.stream = getSame(stream, lastStream);
        row.stack = getSame(stack, lastStack);
        row.pool = getSame(pool, lastPool);
        if (hasModules && row.action == EventAction::Alloc)
            row.module = getSame(module, lastModule);
        if (hasThreads) {
            const std::uint64_t told = thread.varint();
            if (told > std::uint64_t{ UINT32_MAX } + 1)
                return false;
            if (told > 0)
                lastThread = static_cast<std::uint32_t>(told - 1);
            row.thread = lastThread;
        }
        if (hasPhases) // one that this Strata does not know tells it nothing
            if (const std::uint8_t told = phase.byte(); told < kEventPhases)
                row.phase = static_cast<EventPhase>(told);
        if (chunk.hasTimes) {
            lastTime = sum(lastTime, time.signedVarint());
            row.timeNs = static_cast<std::int64_t>(static_cast<std::uint64_t>(lastTime) * unit);
        }
        chunk.rows.push_back(row);
    }
    for (std::vector<SparseText>& kind : chunk.sparse) {
        kind.clear();
        const std::size_t count = sparse.atEnd() ? 0 : sparse.count(2);
        std::uint64_t row = 0;
        for (std::size_t i = 0; i < count; ++i) {
            row += sparse.varint();
            const std::uint64_t text = sparse.varint();
            if (row >= rows || text >= kNone)
                return false;
            kind.push_back({ static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(text) });
        }
    }
    for (const ByteReader* part : { &action, &place, &address, &bytes, &stream, &stack, &pool, &time, &sparse,
             &thread, &phase, &module })
        if (!part->ok())
            return false;
    return true;
}

} // namespace strata::wire
