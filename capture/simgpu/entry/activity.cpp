// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/entry/activity.h"

#include "capture/simgpu/entry/least_time.h"

#include <algorithm>
#include <ctime>
#include <pthread.h>
#include <set>
#include <unistd.h>
#include <vector>

namespace strata::simgpu {

namespace {

using cupti::MemoryKind;
using cupti::RecordKind;
using cupti::WaitType;

constexpr double kLaunchNs
    = 2000; ///< from the launch to the start of a kernel on an idle stream: a round figure
constexpr std::uint16_t kRegisters = 32; ///< as cudaFuncGetAttributes says

struct External {
    std::uint32_t kind;
    std::uint64_t id;
};
thread_local std::vector<External> t_externals;

/// The outermost call of this thread that somebody listens to.
struct Current {
    int depth = 0;
    std::uint32_t correlation = 0;
    std::uint64_t start = 0;
    bool toldExternals = false;
};
thread_local Current t_current;

std::atomic<std::uint32_t> g_correlations{ 0 };
std::atomic<std::uint32_t> g_events{ 0 };
std::atomic<std::uint64_t> g_eventRecords{ 0 };

std::uint32_t contextOfDevice(int device)
{
    return static_cast<std::uint32_t>(device) + 1;
}

/// One record for each kind, of the innermost. They come before the records that they are about: the reader
/// of torch 2.6 goes through a buffer once.
void tellExternals()
{
    if (t_current.toldExternals)
        return;
    t_current.toldExternals = true;
    if (!activityLog().wants(RecordKind::ExternalCorrelation))
        return;
    std::uint32_t told = 0; // a bit for each kind
    for (auto each = t_externals.rbegin(); each != t_externals.rend(); ++each) {
        const std::uint32_t bit = each->kind < 32 ? 1u << each->kind : 0;
        if ((told & bit) != 0)
            continue;
        told |= bit;
        cupti::ExternalRecord record;
        record.externalKind = each->kind;
        record.externalId = each->id;
        record.correlation = t_current.correlation;
        activityLog().put(record);
    }
}

/// The machine is locked here and in the next two.
StreamClocks::Lane laneOf(void* stream)
{
    constexpr unsigned kNonBlocking = 1;
    constexpr Address kLastDefault = 2;
    const Address handle = addressOf(stream);
    const Streams::Stream* found = handle > kLastDefault ? machine().streams.find(handle) : nullptr;
    if (!found)
        return { currentDevice(), handle, true };
    return { found->device, handle, (found->flags & kNonBlocking) == 0 };
}

struct Place {
    MemoryKind kind = MemoryKind::Pageable;
    int device = -1;
};

Place placeOf(const void* memory)
{
    Machine& all = machine();
    const Address address = addressOf(memory);
    if (all.memory.isDevice(address)) {
        const DeviceRange* range = all.memory.find(address);
        if (!range)
            return { MemoryKind::Device, currentDevice() };
        return { MemoryKind::Device,
            range->kind == DeviceRange::Kind::Reserved ? all.virtualMemory.deviceAt(address)
                                                       : range->device };
    }
    if (const HostMemory::Range* range = all.host.find(memory))
        return { range->kind == HostMemory::Kind::Managed ? MemoryKind::Managed : MemoryKind::Pinned, -1 };
    return {};
}

std::uint64_t unitsOf(double ns)
{
    return static_cast<std::uint64_t>(ns * activityLog().unitsPerNs());
}

/// Work of which nothing is known takes no time at all, which no work does that is known.
std::uint64_t leastUnits(double leastNs)
{
    constexpr double kShortestNs = 2; // what is left of a length when both ends are rounded to nanoseconds
    return leastNs < 0 ? 0 : std::max<std::uint64_t>(1, unitsOf(std::max(leastNs, kShortestNs)));
}

void sleepUntil(std::uint64_t time)
{
    constexpr double kMostNs = 10'000'000;
    const ActivityLog& log = activityLog();
    const std::uint32_t generation = log.clockGeneration();
    for (std::uint64_t now = log.now(); now < time; now = log.now()) {
        if (!anybodyListens() || log.clockGeneration() != generation)
            return;
        const double ns = std::min(kMostNs, static_cast<double>(time - now) / log.unitsPerNs());
        const timespec pause{ 0, static_cast<long>(ns) };
        nanosleep(&pause, nullptr);
    }
}

template <class Record>
void fillCommon(Record& record, const StreamClocks::Lane& lane, std::uint32_t number, StreamClocks::Span span,
    GraphPlace place)
{
    record.start = span.start;
    record.end = span.end;
    record.device = static_cast<std::uint32_t>(lane.device);
    record.context = contextOfDevice(lane.device);
    record.stream = number;
    record.correlation = t_current.correlation;
    record.graph = place.graph;
    record.graphNode = place.node;
}

void putKernel(cupti::KernelRecord& record, const DeviceWork& work, int priority)
{
    const char* name = work.name ? work.name : machine().kernels.nameOf(work.function);
    record.registersPerThread = kRegisters;
    record.completed = record.end;
    record.grid[0] = static_cast<std::int32_t>(work.grid.x);
    record.grid[1] = static_cast<std::int32_t>(work.grid.y);
    record.grid[2] = static_cast<std::int32_t>(work.grid.z);
    record.block[0] = static_cast<std::int32_t>(work.block.x);
    record.block[1] = static_cast<std::int32_t>(work.block.y);
    record.block[2] = static_cast<std::int32_t>(work.block.z);
    record.dynamicSharedBytes = static_cast<std::int32_t>(work.sharedBytes);
    record.sharedBytesExecuted = work.sharedBytes;
    record.gridId = record.correlation;
    record.name = name ? name : "unnamed_kernel";
    record.priority = priority;
    activityLog().put(record);
}

void putCopy(cupti::MemcpyRecord& record, const DeviceWork& work, Place from, Place to)
{
    const bool fromDevice = from.kind == MemoryKind::Device;
    const bool toDevice = to.kind == MemoryKind::Device;
    record.copyKind = fromDevice && toDevice ? cupti::CopyKind::DeviceToDevice
        : toDevice                           ? cupti::CopyKind::HostToDevice
        : fromDevice                         ? cupti::CopyKind::DeviceToHost
                                             : cupti::CopyKind::HostToHost;
    record.from = from.kind;
    record.to = to.kind;
    record.flags = work.asynchronous ? cupti::kAsynchronous : 0;
    record.bytes = work.bytes;
    activityLog().put(record);
}

void putPeerCopy(cupti::MemcpyPeerRecord& record, const DeviceWork& work, Place from, Place to)
{
    record.flags = work.asynchronous ? cupti::kAsynchronous : 0;
    record.bytes = work.bytes;
    record.fromDevice = static_cast<std::uint32_t>(from.device);
    record.fromContext = contextOfDevice(from.device);
    record.toDevice = static_cast<std::uint32_t>(to.device);
    record.toContext = contextOfDevice(to.device);
    activityLog().put(record);
}

/// Which recording of which event, as clients number them.
struct EventNumber {
    std::uint32_t event = cupti::kNoneOfThese;
    std::uint64_t record = 0;
};

void putWait(WaitType type, std::uint64_t began, int device, std::uint32_t stream, EventNumber event = {})
{
    if (!activityLog().wants(RecordKind::Synchronization))
        return;
    tellExternals();
    cupti::SynchronizationRecord record;
    record.type = type;
    record.start = began;
    record.end = activityLog().now();
    record.correlation = t_current.correlation;
    record.context = contextOfDevice(device);
    record.stream = stream;
    record.event = event.event;
    record.eventRecord = event.record;
    activityLog().put(record);
}

/// The machine is locked here and in the next.
EventNumber numberOf(const Streams::Event& event)
{
    return { event.number, event.recordNumber };
}

/// When the work before an event is done; 0 where that was by another clock, or before anybody listened.
std::uint64_t doneAt(const Streams::Event& event)
{
    return event.clock == activityLog().clockGeneration() ? event.doneAt : 0;
}

} // namespace

void ApiCall::begin(Api call)
{
    if (ActivityLog::isHandingOver())
        return;
    m_call = call;
    m_part = t_current.depth++ == 0 ? Part::Outer : Part::Inner;
    if (m_part == Part::Inner)
        return;
    t_current.correlation = ++g_correlations;
    t_current.toldExternals = false;
    forgetCallError();
    t_current.start = activityLog().now();
}

void ApiCall::end()
{
    --t_current.depth;
    if (m_part == Part::Inner)
        return;
    ActivityLog& log = activityLog();
    cupti::ApiRecord record;
    record.end = log.now();
    const auto number = static_cast<std::uint32_t>(m_call);
    const bool driver = number >= kDriverCalls;
    record.kind = driver ? RecordKind::Driver : RecordKind::Runtime;
    record.call = driver ? number - kDriverCalls : number;
    if (!log.wantsCall(driver, record.call))
        return;
    tellExternals();
    record.start = t_current.start;
    record.process = static_cast<std::uint32_t>(getpid());
    record.thread = static_cast<std::uint32_t>(pthread_self());
    record.correlation = t_current.correlation;
    record.result = static_cast<std::uint32_t>(callError());
    log.put(record);
}

void ApiCall::issue(void* stream, const DeviceWork& work, GraphPlace place) const
{
    if (launchesAreCounted() && place.graph == 0)
        countLaunches(1);
    if (!isHeard())
        return;
    ActivityLog& log = activityLog();
    const std::optional<double> leastNs = leastNsOfLaunch(place.graph != 0);
    const bool isKernel = work.kind == DeviceWork::Kind::Kernel;
    StreamClocks::Lane lane;
    StreamClocks::Span span;
    Place from;
    Place to;
    std::uint32_t number = 0;
    int priority = 0;
    {
        const auto lock = locked();
        Machine& all = machine();
        lane = laneOf(stream);
        if (const Streams::Stream* known = all.streams.find(lane.stream))
            priority = known->priority;
        if (!isKernel) {
            to = placeOf(work.to);
            from = work.kind == DeviceWork::Kind::Copy ? placeOf(work.from) : to;
        }
        const bool withHost = !isKernel && (to.device < 0 || from.device < 0);
        span = all.clocks.occupy(lane, log.now() + unitsOf(kLaunchNs),
            leastNs ? leastUnits(*leastNs)
                    : std::max<std::uint64_t>(1, unitsOf(simulatedNs(work, withHost))));
        number = all.clocks.numberOf(lane);
    }
    tellExternals();
    const bool betweenDevices = from.device >= 0 && to.device >= 0 && from.device != to.device;
    if (isKernel && (log.wants(RecordKind::ConcurrentKernel) || log.wants(RecordKind::Kernel))) {
        cupti::KernelRecord record;
        fillCommon(record, lane, number, span, place);
        putKernel(record, work, priority);
    } else if (work.kind == DeviceWork::Kind::Copy && betweenDevices && log.wants(RecordKind::MemcpyPeer)) {
        cupti::MemcpyPeerRecord record;
        fillCommon(record, lane, number, span, place);
        putPeerCopy(record, work, from, to);
    } else if (work.kind == DeviceWork::Kind::Copy && !betweenDevices && log.wants(RecordKind::Memcpy)) {
        cupti::MemcpyRecord record;
        fillCommon(record, lane, number, span, place);
        putCopy(record, work, from, to);
    } else if (work.kind == DeviceWork::Kind::Fill && log.wants(RecordKind::Memset)) {
        cupti::MemsetRecord record;
        fillCommon(record, lane, number, span, place);
        record.value = work.value;
        record.bytes = work.bytes;
        record.flags = work.asynchronous ? cupti::kAsynchronous : 0;
        record.memory = static_cast<std::uint16_t>(to.kind);
        log.put(record);
    }
    const bool isCopy = work.kind == DeviceWork::Kind::Copy;
    if (place.graph == 0 && isCopy && (!work.asynchronous || to.kind == MemoryKind::Pageable))
        sleepUntil(span.end);
}

void ApiCall::launch(void* stream, const GraphExec& graph) const
{
    if (launchesAreCounted())
        countLaunches(graph.program->works.size());
    if (!isHeard())
        return;
    std::uint64_t node = std::uint64_t{ graph.number } << 32;
    for (const DeviceWork& work : graph.program->works)
        issue(stream, work, { graph.number, ++node });
}

void ApiCall::tellMemory(
    cupti::MemoryOperation operation, MemoryKind kind, int device, Address address, std::size_t bytes) const
{
    ActivityLog& log = activityLog();
    if (!isHeard() || address == 0 || !log.wants(RecordKind::Memory))
        return;
    tellExternals();
    cupti::MemoryRecord record;
    record.operation = operation;
    record.memory = static_cast<std::uint32_t>(kind);
    record.correlation = t_current.correlation;
    record.address = address;
    record.bytes = bytes;
    // Released before it is free, and allocated after that: two threads at one address are told in order.
    record.time = operation == cupti::MemoryOperation::Release ? t_current.start : log.now();
    record.process = static_cast<std::uint32_t>(getpid());
    record.device = static_cast<std::uint32_t>(device);
    record.context = contextOfDevice(device);
    log.put(record);
}

void ApiCall::record(Streams::Event& event, void* stream) const
{
    if (!isHeard())
        return;
    ActivityLog& log = activityLog();
    cupti::EventRecord record;
    {
        const auto lock = locked();
        if (machine().streams.capture(addressOf(stream)))
            return;
        const StreamClocks::Lane lane = laneOf(stream);
        event.clock = log.clockGeneration();
        event.doneAt = std::max(log.now(), machine().clocks.until(lane));
        if (event.number == 0)
            event.number = ++g_events;
        event.recordNumber = ++g_eventRecords;
        record.context = contextOfDevice(lane.device);
        record.device = static_cast<std::uint32_t>(lane.device);
        record.stream = machine().clocks.numberOf(lane);
        record.deviceTime = event.doneAt;
    }
    if (!log.wants(RecordKind::CudaEvent))
        return;
    tellExternals();
    record.correlation = t_current.correlation;
    record.event = event.number;
    record.eventRecord = event.recordNumber;
    log.put(record);
}

void ApiCall::wait(void* stream, const Streams::Event& waitedFor) const
{
    if (!isHeard())
        return;
    const std::uint64_t began = activityLog().now();
    std::uint32_t number = 0;
    int device = 0;
    EventNumber event;
    {
        const auto lock = locked();
        if (machine().streams.capture(addressOf(stream)))
            return;
        const StreamClocks::Lane lane = laneOf(stream);
        machine().clocks.wait(lane, doneAt(waitedFor));
        event = numberOf(waitedFor);
        number = machine().clocks.numberOf(lane);
        device = lane.device;
    }
    putWait(WaitType::StreamForEvent, began, device, number, event);
}

void ApiCall::synchronize(void* stream) const
{
    if (!isHeard())
        return;
    const std::uint64_t began = activityLog().now();
    std::uint64_t until = 0;
    std::uint32_t number = 0;
    int device = 0;
    {
        const auto lock = locked();
        const StreamClocks::Lane lane = laneOf(stream);
        until = machine().clocks.until(lane);
        number = machine().clocks.numberOf(lane);
        device = lane.device;
    }
    sleepUntil(until);
    putWait(WaitType::Stream, began, device, number);
}

void ApiCall::synchronize(const Streams::Event& waitedFor) const
{
    if (!isHeard())
        return;
    const std::uint64_t began = activityLog().now();
    std::uint64_t until = 0;
    EventNumber event;
    {
        const auto lock = locked();
        until = doneAt(waitedFor);
        event = numberOf(waitedFor);
    }
    sleepUntil(until);
    putWait(WaitType::Event, began, currentDevice(), cupti::kNoneOfThese, event);
}

void ApiCall::synchronizeDevice() const
{
    if (!isHeard())
        return;
    const std::uint64_t began = activityLog().now();
    const int device = currentDevice();
    std::uint64_t until = 0;
    {
        const auto lock = locked();
        until = machine().clocks.untilAll(device);
    }
    sleepUntil(until);
    putWait(WaitType::Context, began, device, cupti::kNoneOfThese);
}

void perform(const ApiCall& call, void* stream, const DeviceWork& work)
{
    Streams& streams = machine().streams;
    if (streams.anyCapture()) {
        const auto lock = locked();
        if (GraphNode* node = streams.append(addressOf(stream), NodeType::Kernel)) {
            node->work = work;
            return;
        }
    }
    call.issue(stream, work);
}

void performLibrary(const char* name, void* stream, const WorkSize& size, Extent grid, Extent block)
{
    if (!isWorkSeen())
        return;
    const ApiCall call(Api::LaunchKernel);
    DeviceWork work = DeviceWork::library(name, size);
    work.grid = grid;
    work.block = block;
    perform(call, stream, work);
}

const char* keptName(const std::string& name)
{
    static std::mutex mutex;
    static auto* const kept = new std::set<std::string>;
    const std::lock_guard lock(mutex);
    return kept->insert(name).first->c_str();
}

void pushExternal(std::uint32_t kind, std::uint64_t id)
{
    t_externals.push_back({ kind, id });
}

bool popExternal(std::uint32_t kind, std::uint64_t& id)
{
    const auto found = std::find_if(
        t_externals.rbegin(), t_externals.rend(), [=](const External& each) { return each.kind == kind; });
    if (found == t_externals.rend())
        return false;
    id = found->id;
    t_externals.erase(std::next(found).base());
    return true;
}

void setActivityClock(ActivityLog::Clock clock)
{
    const auto lock = locked();
    if (activityLog().setClock(clock))
        machine().clocks.restart();
}

} // namespace strata::simgpu
