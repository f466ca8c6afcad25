// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/join/outside_memory.h"

#include "model/base/wrap.h"
#include "model/trace/driver_allocations.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace strata::model {

namespace {

using Row = wire::DriverAllocationRow;
using MemoryKind = wire::DriverMemoryKind;

/// How much earlier the event of a segment may seem than the call that made it: two readings of one clock.
constexpr std::int64_t kClockErrorNs = 1'000'000;
constexpr std::int64_t kNeverNs = std::numeric_limits<std::int64_t>::max();

bool isOfDevice(MemoryKind kind)
{
    return kind == MemoryKind::Device || kind == MemoryKind::Array || kind == MemoryKind::Managed
        || kind == MemoryKind::DeviceVariable || kind == MemoryKind::ManagedVariable;
}

/// An allocation from when it was made until it was released.
struct Life {
    std::int64_t madeNs = 0, goneNs = kNeverNs;
    std::int64_t bytes = 0;
    bool isSegment = false;
};

/// All that was allocated at one address, oldest first.
class DriverPlace {
public:
    /// Rows come in the order of time. What was not seen to be released is, when the next one lies there.
    void allocate(const Row& row)
    {
        release(row.timeNs);
        m_lives.push_back({ row.timeNs, kNeverNs, static_cast<std::int64_t>(row.bytes), false });
    }
    /// False: nothing that is known lay there.
    bool release(std::int64_t timeNs)
    {
        if (m_lives.empty() || m_lives.back().goneNs != kNeverNs)
            return false;
        m_lives.back().goneNs = timeNs;
        return true;
    }
    [[nodiscard]] bool isNew() const { return m_lives.empty(); }

    /// An event says that a segment was made here: it is what lies there, or, if the clock errs, what comes
    /// right behind.
    void segmentAt(std::int64_t eventNs)
    {
        const auto next = std::ranges::upper_bound(m_lives, eventNs, {}, &Life::madeNs);
        if (next != m_lives.begin() && std::prev(next)->goneNs > eventNs && !std::prev(next)->isSegment)
            std::prev(next)->isSegment = true;
        else if (next != m_lives.end() && next->madeNs - eventNs <= kClockErrorNs)
            next->isSegment = true;
    }
    [[nodiscard]] const std::vector<Life>& lives() const { return m_lives; }

private:
    std::vector<Life> m_lives;
};

using DriverPlaces = std::unordered_map<std::uint64_t, DriverPlace>;

/// Marks what PyTorch's allocator made. False: its events have no times, so nothing can be marked.
bool markSegments(const DeviceRecording& device, DriverPlaces& places)
{
    const EventColumns& events = device.events;
    for (EventIndex i = 0; events.hasTimes() && i < events.size(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        if (events.action[row] != Action::SegmentAlloc)
            continue;
        if (const auto place = places.find(events.address[row]); place != places.end())
            place->second.segmentAt(events.timeNs[row]);
    }
    return events.hasTimes() || events.size() == 0;
}

void countBytes(const DriverPlaces& places, OutsideMemory& out)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> changes; // when, and by how much
    for (const auto& [address, place] : places)
        for (const Life& life : place.lives()) {
            if (life.isSegment) {
                ++out.segments;
                continue;
            }
            changes.emplace_back(life.madeNs, life.bytes);
            if (life.goneNs == kNeverNs)
                continue;
            ++out.releasedOutside;
            changes.emplace_back(life.goneNs, -life.bytes);
        }
    std::ranges::sort(changes); // of one instant what goes comes first
    for (const auto& [timeNs, bytes] : changes) {
        out.endBytes = wrapAdd(out.endBytes, bytes);
        if (out.endBytes > out.peakBytes) {
            out.peakBytes = out.endBytes;
            out.peakNs = timeNs;
        }
    }
}

/// `allocator`: what PyTorch's did on that device, if anything. `rows` by time.
OutsideMemory outsideOf(const std::vector<const Row*>& rows, const DeviceRecording* allocator)
{
    OutsideMemory out;
    std::unordered_set<std::uint64_t> older;
    if (allocator)
        for (const FinalSegment& segment : allocator->base.segments)
            older.insert(segment.address);
    DriverPlaces places;
    for (const Row* const row : rows) {
        DriverPlace& place = places[row->address];
        if (!row->isRelease) {
            ++out.allocations;
            place.allocate(*row);
            continue;
        }
        ++out.releases;
        // What was there before is released once: behind that, and where something was made, it is known.
        const bool isOlder = place.isNew() && older.insert(row->address).second;
        if (!place.release(row->timeNs) && isOlder)
            out.olderBytes = wrapAdd(out.olderBytes, static_cast<std::int64_t>(row->bytes));
    }
    out.mayBeSegments = allocator && !markSegments(*allocator, places);
    countBytes(places, out);
    return out;
}

} // namespace

std::vector<OutsideMemory> outsideMemoryOf(const Recording& recording)
{
    const auto* const all = recording.parts.find<DriverAllocations>();
    if (!all)
        return {};
    std::map<int, std::vector<const Row*>> byDevice;
    for (const Row& row : all->rows)
        if (isOfDevice(row.kind))
            byDevice[row.device].push_back(&row);
    std::map<int, const DeviceRecording*> allocators;
    for (const DeviceRecording& device : recording.devices)
        allocators.emplace(device.device, &device);
    std::set<int> lossy;
    for (const LostEvents& lost : recording.lost)
        lossy.insert(lost.device);
    std::vector<OutsideMemory> out;
    for (auto& [device, rows] : byDevice) {
        std::ranges::stable_sort(rows, {}, &Row::timeNs);
        const auto allocator = allocators.find(device);
        out.push_back(outsideOf(rows, allocator == allocators.end() ? nullptr : allocator->second));
        out.back().device = device;
        out.back().mayBeSegments = out.back().mayBeSegments || lossy.contains(device);
    }
    return out;
}

std::vector<Sentence> sayOutsideMemory(const std::vector<OutsideMemory>& outside)
{
    std::vector<Sentence> said;
    for (const OutsideMemory& each : outside) {
        if (each.outside() == 0)
            continue;
        said.push_back(say("Beside PyTorch the driver handed out memory of GPU %1 in %2, at most %3 at once; "
                           "%4 of it was not released by the end.",
            each.device, sayCounted("%1 allocation", "%1 allocations", each.outside()),
            asBytes(each.peakBytes), asBytes(each.endBytes)));
        if (each.mayBeSegments)
            said.push_back(say("Events of PyTorch's allocator are missing: some of it may be PyTorch's."));
    }
    return said;
}

} // namespace strata::model
