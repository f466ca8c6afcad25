// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/program/allocator_calls.h"

#include "model/chunks/chunk_kinds.h"
#include "model/wire/allocator_calls_codec.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace strata::model {

namespace {

using AllocatorCallKind = AllocatorCall::Kind;

/// All of `text` as a number; false if it is none.
template <class Number> bool parse(std::string_view text, Number& number)
{
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end;
}

/// Fills in what the text of its value says; false if it cannot.
bool readValue(std::string_view text, AllocatorCall& call)
{
    switch (call.kind) {
    case AllocatorCallKind::Settings:
    case AllocatorCallKind::SettingsRefused:
    case AllocatorCallKind::CaptureBegin:
    case AllocatorCallKind::CaptureEnd:
        return true;
    case AllocatorCallKind::MemoryFraction:
        return parse(text, call.fraction);
    case AllocatorCallKind::EmptyCache:
        if (text.empty())
            return true;
        break;
    case AllocatorCallKind::PoolBegin:
    case AllocatorCallKind::PoolEnd:
    case AllocatorCallKind::PoolRelease:
    case AllocatorCallKind::PoolCreate:
    case AllocatorCallKind::PoolUseOnOom:
    case AllocatorCallKind::PoolNoSplit:
        break;
    }
    const std::size_t comma = text.find(',');
    return comma != text.npos && parse(text.substr(0, comma), call.poolOwner)
        && parse(text.substr(comma + 1), call.poolId);
}

bool takeAllocatorCalls(std::span<const std::byte> payload, const StreamTables& tables, Recording& recording)
{
    std::vector<wire::AllocatorCallRow> rows;
    if (!wire::decodeAllocatorCalls(payload, rows))
        return false;
    for (const wire::AllocatorCallRow& row : rows) {
        AllocatorCall call;
        call.device = row.device;
        call.event = static_cast<EventIndex>(tables.since(row.device, row.event));
        call.kind = row.kind;
        call.timeNs = row.timeNs;
        if (call.event < 0 || !StreamTables::find(tables.strings, row.value, call.value)
            || !readValue(call.value.valid() ? recording.strings[call.value] : std::string_view(), call))
            return false;
        AllocatorCalls::Calls& calls = recording.parts.get<AllocatorCalls>().byDevice[call.device];
        if (!calls.empty() && calls.back().event > call.event)
            return false;
        calls.push_back(call);
    }
    return true;
}

void writeAllocatorCalls(const Recording& recording, wire::ChunkWriter& writer)
{
    const auto* const part = recording.parts.find<AllocatorCalls>();
    if (!part)
        return;
    std::vector<wire::AllocatorCallRow> rows;
    const auto flush = [&] {
        if (!rows.empty())
            writer.chunk(wire::ChunkType::AllocatorCalls,
                [&](wire::Bytes& out) { wire::encodeAllocatorCalls(rows, out); });
        rows.clear();
    };
    for (const auto& [device, calls] : part->byDevice)
        for (const AllocatorCall& call : calls) {
            rows.push_back({ device, static_cast<std::uint64_t>(call.event), call.kind, numberOf(call.value),
                call.timeNs });
            if (rows.size() >= kRowsAChunk)
                flush();
        }
    flush();
}

/// Whether what it says holds until it is said again, or taken back.
bool lasts(AllocatorCallKind kind)
{
    return kind != AllocatorCallKind::EmptyCache;
}

/// Those within what is kept. What was said before it and holds stands at its beginning, in the same order.
void keepAllocatorCalls(const Recording& from, const KeptRows& kept, Recording& to)
{
    const auto* const part = from.parts.find<AllocatorCalls>();
    if (!part)
        return;
    for (const auto& [device, calls] : part->byDevice) {
        const auto span = kept.spans.find(device);
        if (span == kept.spans.end())
            continue;
        for (AllocatorCall call : calls) {
            const auto place = kept.placeOf(device, call.event);
            if (!place && (call.event > span->second.last || !lasts(call.kind)))
                continue;
            call.event = place.value_or(0);
            if (call.value.valid())
                call.value = kept.text(call.value);
            to.parts.get<AllocatorCalls>().byDevice[device].push_back(call);
        }
    }
}

} // namespace

extern const ChunkKind kCallsChunk;
const ChunkKind kCallsChunk{ wire::ChunkType::AllocatorCalls, ChunkKind::Place::BehindEvents,
    takeAllocatorCalls, writeAllocatorCalls, keepAllocatorCalls };

} // namespace strata::model
