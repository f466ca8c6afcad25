// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/parse.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace strata::cupti {

namespace {

/// Where the records that the library finds begin; the last item is the end of the last one, as far as can be
/// told. `broken`: it led elsewhere.
struct Walk {
    std::vector<std::size_t> begins;
    bool broken = false;
};

Walk walk(std::span<std::uint8_t> buffer, NextRecord next)
{
    Walk found;
    std::uint8_t* record = nullptr;
    while (next(buffer.data(), buffer.size(), &record) == 0) {
        const auto offset
            = reinterpret_cast<std::uintptr_t>(record) - reinterpret_cast<std::uintptr_t>(buffer.data());
        const bool isBehind = found.begins.empty() || offset > found.begins.back();
        if (!record || offset >= buffer.size() || !isBehind) {
            found.broken = true;
            break;
        }
        found.begins.push_back(offset);
    }
    return found;
}

std::optional<RecordKind> kindAt(std::span<const std::uint8_t> buffer, std::size_t offset)
{
    RecordKind kind{};
    if (buffer.size() - offset < sizeof kind)
        return std::nullopt;
    std::memcpy(&kind, buffer.data() + offset, sizeof kind);
    return kind;
}

/// The first `bytes` of a record, which every version has.
template <class Record>
bool read(std::span<const std::uint8_t> buffer, std::size_t offset, std::size_t bytes, Record& record)
{
    if (buffer.size() - offset < bytes)
        return false;
    std::memcpy(static_cast<void*>(&record), buffer.data() + offset, bytes);
    return true;
}

template <class Record, class Take>
bool take(std::span<const std::uint8_t> buffer, std::size_t offset, std::size_t bytes, Take&& take)
{
    Record record;
    if (!read(buffer, offset, bytes, record))
        return false;
    take(record);
    return true;
}

// Of the layouts of CUDA 12.0, which later ones begin with.
constexpr std::size_t kKernelBytes = offsetof(KernelRecord, graphNode);
constexpr std::size_t kCopyBytes = offsetof(MemcpyRecord, runtimeCorrelation);
constexpr std::size_t kPeerBytes = offsetof(MemcpyPeerRecord, reserved0);
constexpr std::size_t kSetBytes = offsetof(MemsetRecord, padding1);
constexpr std::size_t kWaitBytes = offsetof(SynchronizationRecord, eventRecord);
constexpr std::size_t kOverheadBytes = offsetof(OverheadRecord, correlation);
constexpr std::size_t kMemoryBytes = offsetof(MemoryRecord, name);

bool takeRecord(std::span<const std::uint8_t> buffer, std::size_t offset, RecordKind kind, RecordSink& sink)
{
    switch (kind) {
    case RecordKind::Kernel:
    case RecordKind::ConcurrentKernel:
        return take<KernelRecord>(
            buffer, offset, kKernelBytes, [&](const KernelRecord& record) { sink.kernel(record); });
    case RecordKind::Memcpy:
        return take<MemcpyRecord>(
            buffer, offset, kCopyBytes, [&](const MemcpyRecord& record) { sink.copy(record); });
    case RecordKind::MemcpyPeer:
        return take<MemcpyPeerRecord>(
            buffer, offset, kPeerBytes, [&](const MemcpyPeerRecord& record) { sink.copy(record); });
    case RecordKind::Memset:
        return take<MemsetRecord>(
            buffer, offset, kSetBytes, [&](const MemsetRecord& record) { sink.set(record); });
    case RecordKind::Runtime:
    case RecordKind::Driver:
        return take<ApiRecord>(
            buffer, offset, sizeof(ApiRecord), [&](const ApiRecord& record) { sink.call(record); });
    case RecordKind::Synchronization:
        return take<SynchronizationRecord>(
            buffer, offset, kWaitBytes, [&](const SynchronizationRecord& record) { sink.wait(record); });
    case RecordKind::Overhead:
        return take<OverheadRecord>(
            buffer, offset, kOverheadBytes, [&](const OverheadRecord& record) { sink.overhead(record); });
    case RecordKind::Memory:
        return take<MemoryRecord>(
            buffer, offset, kMemoryBytes, [&](const MemoryRecord& record) { sink.memory(record); });
    default:
        return true;
    }
}

} // namespace

void parseRecords(std::span<std::uint8_t> buffer, NextRecord next, RecordSink& sink)
{
    const Walk found = walk(buffer, next);
    for (const std::size_t offset : found.begins) {
        const auto kind = kindAt(buffer, offset);
        if (!kind || !takeRecord(buffer, offset, *kind, sink))
            return sink.unreadable();
    }
    if (found.broken)
        sink.unreadable();
}

std::size_t keepRecords(std::span<std::uint8_t> buffer, NextRecord next, std::uint64_t wanted)
{
    const Walk found = walk(buffer, next);
    if (found.broken)
        return buffer.size();
    std::size_t kept = 0;
    for (std::size_t i = 0; i < found.begins.size(); ++i) {
        const std::size_t begin = found.begins[i];
        const std::size_t end = i + 1 < found.begins.size() ? found.begins[i + 1] : buffer.size();
        const auto kind = kindAt(buffer, begin);
        const std::uint32_t number = kind ? static_cast<std::uint32_t>(*kind) : UINT32_MAX;
        if (number >= 64 || !(wanted >> number & 1U))
            continue;
        std::memmove(buffer.data() + kept, buffer.data() + begin, end - begin);
        kept += end - begin;
    }
    return kept;
}

} // namespace strata::cupti
