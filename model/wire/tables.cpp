// SPDX-License-Identifier: Apache-2.0
#include "model/wire/tables.h"

#include "model/wire/coder.h"

#include <algorithm>

namespace strata::wire {
namespace {

/// The number of the first row, and how many follow. Returns how many.
std::size_t codeHead(auto& coder, auto& first, std::size_t size, std::size_t leastBytes)
{
    coder.varint(first);
    const std::size_t count = coder.count(size, leastBytes, kMaxRowsAChunk);
    coder.require(first < kNone - count);
    return coder.ok() ? count : 0;
}

/// `layout` is that of a row.
constexpr auto tableLayout(std::size_t leastBytes, auto layout)
{
    return [=](auto& coder, auto& first, auto& rows) {
        const std::size_t count = codeHead(coder, first, rows.size(), leastBytes);
        coder.list(rows, count, [&](auto& row) { layout(coder, row); });
    };
}

} // namespace

constexpr auto kKeyValuesLayout = [](auto& coder, auto& items) {
    coder.rows(items, 2, [&](auto& item) { coder.text(item.first, item.second); });
};

void encodeKeyValues(std::span<const KeyValue> items, Bytes& out)
{
    encodeAs(kKeyValuesLayout, out, items);
}

bool decodeKeyValues(std::span<const std::byte> payload, std::vector<KeyValue>& items)
{
    return decodeAs(kKeyValuesLayout, payload, items);
}

constexpr auto kStringsLayout = tableLayout(1, [](auto& coder, auto& text) { coder.text(text); });

void encodeStrings(std::uint32_t first, std::span<const std::string_view> strings, Bytes& out)
{
    encodeAs(kStringsLayout, out, first, strings);
}

bool decodeStrings(
    std::span<const std::byte> payload, std::uint32_t& first, std::vector<std::string_view>& strings)
{
    return decodeAs(kStringsLayout, payload, first, strings);
}

constexpr auto kFramesLayout = tableLayout(4, [](auto& coder, auto& frame) {
    coder.id(frame.file, frame.function);
    coder.signedVarint(frame.line);
    coder.id(frame.extras);
});

void encodeFrames(std::uint32_t first, std::span<const FrameRow> frames, Bytes& out)
{
    encodeAs(kFramesLayout, out, first, frames);
}

bool decodeFrames(std::span<const std::byte> payload, std::uint32_t& first, std::vector<FrameRow>& frames)
{
    return decodeAs(kFramesLayout, payload, first, frames);
}

void encodeStacks(std::uint32_t first, const StackRows& stacks, Bytes& out)
{
    WritingCoder coder(out);
    codeHead(coder, first, stacks.ends.size(), 2);
    std::span<const std::uint32_t> last;
    for (std::size_t i = 0; i < stacks.ends.size(); ++i) {
        const std::span<const std::uint32_t> stack = stacks[i];
        std::size_t shared = 0;
        while (shared < std::min(stack.size(), last.size())
            && stack[stack.size() - 1 - shared] == last[last.size() - 1 - shared])
            ++shared;
        coder.varint(shared, stack.size() - shared);
        for (const std::uint32_t frame : stack.first(stack.size() - shared))
            coder.varint(frame);
        last = stack;
    }
}

bool decodeStacks(std::span<const std::byte> payload, std::uint32_t& first, StackRows& stacks)
{
    ReadingCoder coder(payload);
    const std::size_t count = codeHead(coder, first, 0, 2);
    stacks.frames.clear();
    stacks.ends.clear();
    stacks.ends.reserve(count);
    std::size_t lastBegin = 0;
    for (std::size_t i = 0; i < count && coder.ok(); ++i) {
        const std::size_t begin = stacks.frames.size();
        std::uint64_t shared = 0;
        coder.varint(shared);
        const std::size_t own = coder.count(0, 1, kAsManyAsFit);
        // Sharing makes frames out of nothing: a small payload must not become a large stack table.
        if (shared > begin - lastBegin || begin + own + shared > kMaxFramesAChunk)
            return false;
        for (std::size_t f = 0; f < own; ++f) {
            coder.varint(stacks.frames.emplace_back());
            if (stacks.frames.back() == kNone)
                return false;
        }
        for (std::size_t f = begin - static_cast<std::size_t>(shared); f < begin; ++f)
            stacks.frames.push_back(stacks.frames[f]);
        stacks.ends.push_back(static_cast<std::uint32_t>(stacks.frames.size()));
        lastBegin = begin;
    }
    return coder.ok();
}

constexpr auto kStreamsLayout = tableLayout(1, [](auto& coder, auto& stream) { coder.signedVarint(stream); });

void encodeStreams(std::uint32_t first, std::span<const std::int64_t> streams, Bytes& out)
{
    encodeAs(kStreamsLayout, out, first, streams);
}

bool decodeStreams(
    std::span<const std::byte> payload, std::uint32_t& first, std::vector<std::int64_t>& streams)
{
    return decodeAs(kStreamsLayout, payload, first, streams);
}

constexpr auto kPoolsLayout = tableLayout(3, [](auto& coder, auto& pool) {
    coder.signedVarint(pool.owner, pool.id);
    coder.knownCode(pool.kind, kPoolKinds);
});

void encodePools(std::uint32_t first, std::span<const PoolRow> pools, Bytes& out)
{
    encodeAs(kPoolsLayout, out, first, pools);
}

bool decodePools(std::span<const std::byte> payload, std::uint32_t& first, std::vector<PoolRow>& pools)
{
    return decodeAs(kPoolsLayout, payload, first, pools);
}

constexpr auto kAnnotationsLayout = [](auto& coder, auto& rows) {
    std::uint64_t time = 0;
    coder.rows(rows, 4, [&](auto& row) {
        coder.code(row.kind);
        coder.signedVarint(row.device);
        coder.id(row.name);
        coder.step(row.timeNs, time);
    });
    if (coder.more(std::ranges::any_of(rows, [](const AnnotationRow& row) { return row.thread != 0; })))
        coder.varints(rows, &AnnotationRow::thread);
    coder.dropUnknown(rows, &AnnotationRow::kind, kAnnotationKinds);
};

void encodeAnnotations(std::span<const AnnotationRow> rows, Bytes& out)
{
    encodeAs(kAnnotationsLayout, out, rows);
}

bool decodeAnnotations(std::span<const std::byte> payload, std::vector<AnnotationRow>& rows)
{
    return decodeAs(kAnnotationsLayout, payload, rows);
}

constexpr auto kDriverLayout = [](auto& coder, auto& rows) {
    std::uint64_t time = 0;
    coder.rows(rows, 6, [&](auto& row) {
        coder.signedVarint(row.device);
        coder.varint(row.event);
        coder.step(row.timeNs, time);
        coder.signedVarint(row.usedBytes, row.processBytes, row.reservedBytes);
    });
};

void encodeDriver(std::span<const DriverRow> rows, Bytes& out)
{
    encodeAs(kDriverLayout, out, rows);
}

bool decodeDriver(std::span<const std::byte> payload, std::vector<DriverRow>& rows)
{
    return decodeAs(kDriverLayout, payload, rows);
}

constexpr auto kLostLayout = [](auto& coder, auto& rows) {
    coder.rows(rows, 3, [&](auto& row) {
        coder.signedVarint(row.device);
        coder.varint(row.event, row.count);
    });
};

void encodeLost(std::span<const LostRow> rows, Bytes& out)
{
    encodeAs(kLostLayout, out, rows);
}

bool decodeLost(std::span<const std::byte> payload, std::vector<LostRow>& rows)
{
    return decodeAs(kLostLayout, payload, rows);
}

constexpr auto kEarlierLayout = [](auto& coder, auto& rows) {
    coder.rows(rows, 9, [&](auto& row) {
        coder.signedVarint(row.device);
        coder.varint(row.firstEvent, row.events);
        coder.signedVarint(row.firstNs);
        coder.varint(row.durationNs, row.requestedMin);
        coder.varintAbove(row.requestedMax, row.requestedMin);
        coder.varint(row.reservedMin);
        coder.varintAbove(row.reservedMax, row.reservedMin);
        constexpr std::uint64_t kMost = std::uint64_t{ 1 } << 61; // sums of two fit
        for (const std::uint64_t number : { row.firstEvent, row.events,
                 static_cast<std::uint64_t>(row.firstNs), row.durationNs, row.requestedMax, row.reservedMax })
            coder.require(number <= kMost);
        coder.require(row.events > 0 && row.firstEvent + row.events <= kMost);
    });
};

void encodeEarlier(std::span<const EarlierRow> rows, Bytes& out)
{
    encodeAs(kEarlierLayout, out, rows);
}

bool decodeEarlier(std::span<const std::byte> payload, std::vector<EarlierRow>& rows)
{
    return decodeAs(kEarlierLayout, payload, rows);
}

} // namespace strata::wire
