// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/kineto/trace_memory.h"

#include "model/base/wrap.h"
#include "model/readers/kineto/span_stacks.h"
#include "model/trace/work.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{ 1 } << 50; // of a block, and of a total

bool isPlausible(const MemoryReading& reading)
{
    return reading.bytes >= -kMostBytes && reading.bytes <= kMostBytes
        && reading.totalAllocatedBytes <= kMostBytes && reading.totalReservedBytes <= kMostBytes;
}

bool isUsed(const MemoryReading& reading)
{
    if (reading.deviceType <= kCpuType || reading.device < 0 || !isPlausible(reading))
        return false;
    return reading.kind == MemoryReading::Kind::OutOfMemory
        || (reading.address != 0 && reading.bytes != 0 && reading.totalAllocatedBytes >= 0);
}

/// Rows of Work::memory by device, each by time. Of devices of two types with one number the first type.
std::map<int, std::vector<std::uint32_t>> readingsByDevice(const Work& work)
{
    std::map<int, int> types;
    for (const MemoryReading& reading : work.memory)
        if (isUsed(reading)) {
            const auto [type, isNew] = types.try_emplace(reading.device, reading.deviceType);
            type->second = std::min(type->second, reading.deviceType);
        }
    std::map<int, std::vector<std::uint32_t>> rows;
    for (std::size_t i = 0; i < work.memory.size(); ++i) {
        const MemoryReading& reading = work.memory[i];
        if (isUsed(reading) && types.at(reading.device) == reading.deviceType)
            rows[reading.device].push_back(static_cast<std::uint32_t>(i));
    }
    // Rows of several threads stand in the file one thread after another.
    for (auto& [device, list] : rows)
        std::ranges::stable_sort(list, {}, [&](std::uint32_t row) { return work.memory[row].timeNs; });
    std::erase_if(rows, [&](const auto& entry) {
        return std::ranges::none_of(entry.second,
            [&](std::uint32_t row) { return work.memory[row].kind == MemoryReading::Kind::Change; });
    });
    return rows;
}

class Maker {
public:
    Maker(Recording& recording, const Work& work)
        : m_recording(recording)
        , m_work(work)
        , m_stacks(recording, work)
    {
    }

    void add(int number, const std::vector<std::uint32_t>& rows)
    {
        DeviceRecording& device = m_recording.devices.emplace_back();
        device.device = number;
        ProfiledMemory& profiled = device.profiled.emplace();
        addLevels(rows, profiled);
        const std::vector<StackId> stacks = m_stacks.of(rows);
        EventColumns& events = device.events;
        std::int64_t reserved = profiled.reservedBytes.value_or(0);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const MemoryReading& reading = m_work.memory[rows[i]];
            const bool isChange = reading.kind == MemoryReading::Kind::Change;
            const bool isAlloc = isChange && reading.bytes > 0;
            if (!isChange)
                events.userMetadata.set(static_cast<std::uint32_t>(i),
                    m_recording.strings.intern(
                        "OutOfMemory: asked for " + std::to_string(reading.bytes) + " bytes"));
            events.action.push_back(isAlloc ? Action::Alloc
                    : isChange              ? Action::FreeCompleted
                                            : Action::UserDefined);
            events.address.push_back(isChange ? reading.address : 0);
            events.bytes.push_back(isChange ? std::abs(reading.bytes) : 0);
            events.timeNs.push_back(reading.timeNs);
            // A free's would be taken for that of the allocation of an older block.
            events.stack.push_back(isChange && !isAlloc ? StackId{} : stacks[i]);
            events.stream.push_back(kNoIndex);
            events.pool.push_back(kNoIndex);
            if (reading.totalReservedBytes >= 0)
                reserved = reading.totalReservedBytes;
            if (profiled.reservedBytes)
                events.reservedReading.push_back(reserved);
            tellThread(events, reading);
        }
    }

private:
    /// What was there before the first event, and where the readings tell of more than their own bytes.
    void addLevels(const std::vector<std::uint32_t>& rows, ProfiledMemory& profiled) const
    {
        std::set<std::uint64_t> live; // a hash would be slow with addresses that were made for it
        std::int64_t freed = 0; // of blocks that no event allocates
        std::optional<std::int64_t> start, total;
        bool isRead = false;
        for (const std::uint32_t row : rows) {
            const MemoryReading& reading = m_work.memory[row];
            if (!isRead && reading.totalReservedBytes >= 0) {
                profiled.reservedBytes = reading.totalReservedBytes;
                isRead = true;
            }
            if (reading.kind == MemoryReading::Kind::OutOfMemory) {
                ++profiled.outOfMemories;
                continue;
            }
            const std::int64_t before = wrapSub(reading.totalAllocatedBytes, reading.bytes);
            if (!start)
                start = before;
            if (total && before != *total) {
                ++profiled.untold;
                profiled.untoldBytes = wrapAdd(profiled.untoldBytes, wrapSub(before, *total));
            }
            total = reading.totalAllocatedBytes;
            if (reading.bytes > 0)
                live.insert(reading.address);
            else if (live.erase(reading.address) == 0)
                freed = wrapSub(freed, reading.bytes);
        }
        profiled.unnamedBytes = start ? std::max<std::int64_t>(wrapSub(*start, freed), 0) : 0;
    }

    void tellThread(EventColumns& events, const MemoryReading& reading)
    {
        const std::int64_t thread = m_work.lanes[reading.lane].thread;
        if (thread > 0 && thread <= std::numeric_limits<std::uint32_t>::max())
            events.tell(
                EventPhase::Unknown, m_recording.internThread(static_cast<std::uint32_t>(thread)), kNoIndex);
    }

    Recording& m_recording;
    const Work& m_work;
    SpanStacks m_stacks;
};

/// Those of threads, by time, as if they had been recorded: steps and pages of memory know such ones.
void addAnnotations(Recording& recording, const Work& work)
{
    struct End {
        Annotation annotation;
        std::int64_t otherEndNs; // of the span
    };
    std::vector<End> ends;
    for (std::size_t i = 0; i < work.spans.size(); ++i) {
        const WorkSpan& span = work.spans[i];
        if (span.kind != WorkKind::Annotation)
            continue;
        const std::int64_t thread = work.lanes[span.lane].thread;
        Annotation annotation;
        annotation.name = span.name;
        annotation.thread = thread > 0 && thread <= std::numeric_limits<std::uint32_t>::max()
            ? static_cast<std::uint32_t>(thread)
            : 0;
        annotation.timeNs = span.startNs;
        annotation.kind = span.durationNs > 0 ? Annotation::Kind::Start : Annotation::Kind::Mark;
        ends.push_back({ annotation, span.endNs() });
        if (span.durationNs > 0) {
            annotation.timeNs = span.endNs();
            annotation.kind = Annotation::Kind::End;
            ends.push_back({ annotation, span.startNs });
        }
    }
    // At one time: what ends before what begins; the inner one ends first, the outer one begins first.
    std::ranges::stable_sort(ends, [](const End& a, const End& b) {
        const auto key = [](const End& end) {
            return std::tuple(end.annotation.timeNs, end.annotation.kind != Annotation::Kind::End,
                wrapSub(0, end.otherEndNs));
        };
        return key(a) < key(b);
    });
    for (const End& end : ends)
        recording.annotations.push_back(end.annotation);
}

} // namespace

void addMemoryOfTrace(Recording& recording)
{
    const auto* const work = recording.parts.find<Work>();
    if (!work)
        return;
    const auto devices = readingsByDevice(*work);
    if (devices.empty())
        return;
    Maker maker(recording, *work);
    for (const auto& [number, rows] : devices)
        maker.add(number, rows);
    addAnnotations(recording, *work);
}

} // namespace strata::model
