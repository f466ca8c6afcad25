// SPDX-License-Identifier: Apache-2.0
#include "model/wire/tables.h"

#include <algorithm>

namespace strata::wire {
namespace {

/// The number of the first row and how many follow, each of at least `rowBytes`.
std::size_t getHead(ByteReader& in, std::uint32_t& first, std::size_t rowBytes)
{
    const std::uint64_t start = in.varint();
    const std::size_t count = in.count(rowBytes);
    if (start >= kNone || start + count >= kNone || count > kMaxRowsAChunk) {
        in.fail();
        return 0;
    }
    first = static_cast<std::uint32_t>(start);
    return count;
}

void putHead(ByteWriter& out, std::uint32_t first, std::size_t count)
{
    out.varint(first);
    out.varint(count);
}

} // namespace

void encodeKeyValues(std::span<const KeyValue> items, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(items.size());
    for (const auto& [key, value] : items) {
        writer.text(key);
        writer.text(value);
    }
}

bool decodeKeyValues(std::span<const std::byte> payload, std::vector<KeyValue>& items)
{
    ByteReader in(payload);
    items.clear();
    const std::size_t count = in.count(2);
    if (count > kMaxRowsAChunk)
        return false;
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        const std::string_view key = in.text();
        items.emplace_back(key, in.text());
    }
    return in.ok();
}

void encodeStrings(std::uint32_t first, std::span<const std::string_view> strings, Bytes& out)
{
    ByteWriter writer(out);
    putHead(writer, first, strings.size());
    for (const std::string_view text : strings)
        writer.text(text);
}

bool decodeStrings(
    std::span<const std::byte> payload, std::uint32_t& first, std::vector<std::string_view>& strings)
{
    ByteReader in(payload);
    const std::size_t count = getHead(in, first, 1);
    strings.clear();
    strings.reserve(count);
    for (std::size_t i = 0; i < count && in.ok(); ++i)
        strings.push_back(in.text());
    return in.ok();
}

void encodeFrames(std::uint32_t first, std::span<const FrameRow> frames, Bytes& out)
{
    ByteWriter writer(out);
    putHead(writer, first, frames.size());
    for (const FrameRow& frame : frames) {
        writer.id(frame.file);
        writer.id(frame.function);
        writer.signedVarint(frame.line);
        writer.id(frame.extras);
    }
}

bool decodeFrames(std::span<const std::byte> payload, std::uint32_t& first, std::vector<FrameRow>& frames)
{
    ByteReader in(payload);
    const std::size_t count = getHead(in, first, 4);
    frames.clear();
    frames.reserve(count);
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        FrameRow frame;
        frame.file = in.id();
        frame.function = in.id();
        frame.line = in.signedVarint();
        frame.extras = in.id();
        frames.push_back(frame);
    }
    return in.ok();
}

void encodeStacks(std::uint32_t first, const StackRows& stacks, Bytes& out)
{
    ByteWriter writer(out);
    putHead(writer, first, stacks.ends.size());
    std::span<const std::uint32_t> last;
    for (std::size_t i = 0; i < stacks.ends.size(); ++i) {
        const std::span<const std::uint32_t> stack = stacks[i];
        std::size_t shared = 0;
        while (shared < std::min(stack.size(), last.size())
            && stack[stack.size() - 1 - shared] == last[last.size() - 1 - shared])
            ++shared;
        writer.varint(shared);
        writer.varint(stack.size() - shared);
        for (const std::uint32_t frame : stack.first(stack.size() - shared))
            writer.varint(frame);
        last = stack;
    }
}

bool decodeStacks(std::span<const std::byte> payload, std::uint32_t& first, StackRows& stacks)
{
    ByteReader in(payload);
    const std::size_t count = getHead(in, first, 2);
    stacks.frames.clear();
    stacks.ends.clear();
    stacks.ends.reserve(count);
    std::size_t lastBegin = 0;
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        const std::size_t begin = stacks.frames.size();
        const std::uint64_t shared = in.varint();
        const std::size_t own = in.count();
        // Sharing makes frames out of nothing: a small payload must not become a large stack table.
        if (shared > begin - lastBegin || begin + own + shared > kMaxFramesAChunk)
            return false;
        for (std::size_t f = 0; f < own; ++f) {
            const std::uint64_t frame = in.varint();
            if (frame >= kNone)
                return false;
            stacks.frames.push_back(static_cast<std::uint32_t>(frame));
        }
        for (std::size_t f = begin - static_cast<std::size_t>(shared); f < begin; ++f)
            stacks.frames.push_back(stacks.frames[f]);
        stacks.ends.push_back(static_cast<std::uint32_t>(stacks.frames.size()));
        lastBegin = begin;
    }
    return in.ok();
}

void encodeStreams(std::uint32_t first, std::span<const std::int64_t> streams, Bytes& out)
{
    ByteWriter writer(out);
    putHead(writer, first, streams.size());
    for (const std::int64_t stream : streams)
        writer.signedVarint(stream);
}

bool decodeStreams(
    std::span<const std::byte> payload, std::uint32_t& first, std::vector<std::int64_t>& streams)
{
    ByteReader in(payload);
    const std::size_t count = getHead(in, first, 1);
    streams.clear();
    for (std::size_t i = 0; i < count && in.ok(); ++i)
        streams.push_back(in.signedVarint());
    return in.ok();
}

void encodePools(std::uint32_t first, std::span<const PoolRow> pools, Bytes& out)
{
    ByteWriter writer(out);
    putHead(writer, first, pools.size());
    for (const PoolRow& pool : pools) {
        writer.signedVarint(pool.owner);
        writer.signedVarint(pool.id);
        writer.byte(static_cast<std::uint8_t>(pool.kind));
    }
}

bool decodePools(std::span<const std::byte> payload, std::uint32_t& first, std::vector<PoolRow>& pools)
{
    ByteReader in(payload);
    const std::size_t count = getHead(in, first, 3);
    pools.clear();
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        PoolRow pool;
        pool.owner = in.signedVarint();
        pool.id = in.signedVarint();
        const std::uint8_t kind = in.byte();
        if (kind >= kPoolKinds)
            return false;
        pool.kind = static_cast<PoolKind>(kind);
        pools.push_back(pool);
    }
    return in.ok();
}

void encodeAnnotations(std::span<const AnnotationRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    std::int64_t last = 0;
    for (const AnnotationRow& row : rows) {
        writer.byte(static_cast<std::uint8_t>(row.kind));
        writer.signedVarint(row.device);
        writer.id(row.name);
        writer.signedVarint(static_cast<std::int64_t>(
            static_cast<std::uint64_t>(row.timeNs) - static_cast<std::uint64_t>(last)));
        last = row.timeNs;
    }
    if (std::ranges::any_of(rows, [](const AnnotationRow& row) { return row.thread != 0; }))
        for (const AnnotationRow& row : rows)
            writer.varint(row.thread);
}

bool decodeAnnotations(std::span<const std::byte> payload, std::vector<AnnotationRow>& rows)
{
    ByteReader in(payload);
    const std::size_t count = in.count(4);
    if (count > kMaxRowsAChunk)
        return false;
    rows.clear();
    rows.reserve(count);
    std::uint64_t last = 0;
    std::vector<std::uint8_t> kinds;
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        AnnotationRow row;
        const std::uint8_t kind = kinds.emplace_back(in.byte());
        const std::int64_t device = in.signedVarint();
        row.name = in.id();
        last += static_cast<std::uint64_t>(in.signedVarint());
        row.timeNs = static_cast<std::int64_t>(last);
        if (device < INT32_MIN || device > INT32_MAX)
            return false;
        row.device = static_cast<std::int32_t>(device);
        row.kind = static_cast<AnnotationKind>(kind);
        if (kind < kAnnotationKinds)
            rows.push_back(row);
    }
    if (in.atEnd()) // as before threads were told
        return in.ok();
    std::size_t known = 0;
    for (const std::uint8_t kind : kinds) {
        const std::uint64_t thread = in.varint();
        if (kind < kAnnotationKinds && in.ok())
            rows[known++].thread = static_cast<std::uint32_t>(thread);
    }
    return in.ok();
}

void encodeDriver(std::span<const DriverRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    std::int64_t time = 0;
    for (const DriverRow& row : rows) {
        writer.signedVarint(row.device);
        writer.varint(row.event);
        writer.signedVarint(row.timeNs - time);
        writer.signedVarint(row.usedBytes);
        writer.signedVarint(row.processBytes);
        writer.signedVarint(row.reservedBytes);
        time = row.timeNs;
    }
}

bool decodeDriver(std::span<const std::byte> payload, std::vector<DriverRow>& rows)
{
    ByteReader in(payload);
    const std::size_t count = in.count(6);
    if (count > kMaxRowsAChunk)
        return false;
    rows.clear();
    rows.reserve(count);
    std::int64_t time = 0;
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        const std::int64_t device = in.signedVarint();
        if (device < INT32_MIN || device > INT32_MAX)
            return false;
        DriverRow& row = rows.emplace_back();
        row.device = static_cast<std::int32_t>(device);
        row.event = in.varint();
        time = static_cast<std::int64_t>(
            static_cast<std::uint64_t>(time) + static_cast<std::uint64_t>(in.signedVarint()));
        row.timeNs = time;
        row.usedBytes = in.signedVarint();
        row.processBytes = in.signedVarint();
        row.reservedBytes = in.signedVarint();
    }
    return in.ok();
}

void encodeLost(std::span<const LostRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    for (const LostRow& row : rows) {
        writer.signedVarint(row.device);
        writer.varint(row.event);
        writer.varint(row.count);
    }
}

bool decodeLost(std::span<const std::byte> payload, std::vector<LostRow>& rows)
{
    ByteReader in(payload);
    const std::size_t count = in.count(3);
    if (count > kMaxRowsAChunk)
        return false;
    rows.clear();
    rows.reserve(count);
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        const std::int64_t device = in.signedVarint();
        if (device < INT32_MIN || device > INT32_MAX)
            return false;
        rows.push_back({ static_cast<std::int32_t>(device), in.varint(), in.varint() });
    }
    return in.ok();
}

void encodeEarlier(std::span<const EarlierRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    for (const EarlierRow& row : rows) {
        writer.signedVarint(row.device);
        writer.varint(row.firstEvent);
        writer.varint(row.events);
        writer.signedVarint(row.firstNs);
        writer.varint(row.durationNs);
        writer.varint(row.requestedMin);
        writer.varint(row.requestedMax - row.requestedMin);
        writer.varint(row.reservedMin);
        writer.varint(row.reservedMax - row.reservedMin);
    }
}

bool decodeEarlier(std::span<const std::byte> payload, std::vector<EarlierRow>& rows)
{
    constexpr std::uint64_t kMost = std::uint64_t{ 1 } << 61; // sums of two fit
    ByteReader in(payload);
    const std::size_t count = in.count(9);
    if (count > kMaxRowsAChunk)
        return false;
    rows.clear();
    rows.reserve(count);
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        const std::int64_t device = in.signedVarint();
        EarlierRow row;
        row.device = static_cast<std::int32_t>(device);
        row.firstEvent = in.varint();
        row.events = in.varint();
        row.firstNs = in.signedVarint();
        row.durationNs = in.varint();
        row.requestedMin = in.varint();
        row.requestedMax = in.varint();
        row.reservedMin = in.varint();
        row.reservedMax = in.varint();
        for (const std::uint64_t each : { row.firstEvent, row.events, row.durationNs, row.requestedMin,
                 row.requestedMax, row.reservedMin, row.reservedMax })
            if (each > kMost)
                return false;
        if (device < INT32_MIN || device > INT32_MAX || row.events == 0 || row.firstNs < 0
            || static_cast<std::uint64_t>(row.firstNs) > kMost || row.events > kMost - row.firstEvent)
            return false;
        row.requestedMax += row.requestedMin;
        row.reservedMax += row.reservedMin;
        if (row.requestedMax > kMost || row.reservedMax > kMost)
            return false;
        rows.push_back(row);
    }
    return in.ok();
}

} // namespace strata::wire
