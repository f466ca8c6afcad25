// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/capture/fake_allocator.h"

#include <ctime>
#include <memory>

namespace strata::test {

namespace {

constexpr std::uint8_t kAlloc = 0, kFreeRequested = 1, kFreeCompleted = 2, kSegmentAlloc = 3,
                       kSegmentFree = 4, kSnapshot = 7, kOom = 8;
constexpr std::uint8_t kEmptyCache = 0, kSettings = 1, kSettingsRefused = 2, kMemoryFraction = 3;
constexpr std::int64_t kSegmentBytes = 2 << 20;

std::uint64_t ticks() noexcept
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

} // namespace

FakeAllocator* FakeAllocator::s_one = nullptr;

FakeAllocator::FakeAllocator()
{
    s_one = this;
    for (std::size_t i = 0; i < m_devices.size(); ++i)
        m_devices[i].next = (i + 1) << 40;
    m_hook.version = "0.0";
    m_hook.readiness = [](const char**) noexcept { return hook::Readiness::Ready; };
    m_hook.attach = [](const hook::Callbacks& callbacks) noexcept {
        for (Device& device : s_one->m_devices) {
            const std::lock_guard lock(device.mutex);
            device.callbacks = callbacks;
        }
        return true;
    };
    m_hook.snapshot = [](const hook::SnapshotSink& sink) noexcept { return s_one->snapshot(sink); };
    m_hook.isTorchRecording = []() noexcept { return false; };
    m_hook.counter = ticks;
    m_hook.followCalls = [](const char**) noexcept { return true; };
}

FakeAllocator::~FakeAllocator()
{
    s_one = nullptr;
}

const hook::Hook& FakeAllocator::hook() const
{
    return m_hook;
}

void FakeAllocator::tell(Device& device, hook::Entry entry)
{
    entry.device = static_cast<std::int32_t>(&device - m_devices.data());
    entry.counter = ticks();
    entry.hasPool = true;
    entry.phase = static_cast<std::uint8_t>(m_phase.load());
    entry.stream = 0x7000 + static_cast<std::uint64_t>(entry.device);
    if (!device.callbacks.entry)
        return;
    if (m_keepsLog)
        if (m_logs)
            device.log.push_back(entry);
    device.callbacks.entry(entry);
}

std::uint64_t FakeAllocator::allocate(int index, std::int64_t bytes, std::string_view metadata)
{
    Device& device = m_devices[static_cast<std::size_t>(index)];
    const std::lock_guard lock(device.mutex);
    std::uint64_t address = 0;
    for (auto& [begin, segment] : device.segments) {
        if (segment.requested < 0) {
            address = begin;
            break;
        }
    }
    if (address == 0) {
        address = device.next;
        device.next += kSegmentBytes;
        device.segments[address].bytes = kSegmentBytes;
        tell(device, { .action = kSegmentAlloc, .address = address, .bytes = kSegmentBytes });
    }
    device.segments[address].requested = bytes;
    tell(device,
        { .action = kAlloc,
            .address = address,
            .bytes = bytes,
            .userMetadata = { metadata.data(), metadata.size() } });
    return address;
}

void FakeAllocator::release(int index, std::uint64_t address)
{
    Device& device = m_devices[static_cast<std::size_t>(index)];
    const std::lock_guard lock(device.mutex);
    Segment& segment = device.segments.at(address);
    tell(device, { .action = kFreeRequested, .address = address, .bytes = segment.requested });
    tell(device, { .action = kFreeCompleted, .address = address, .bytes = segment.requested });
    segment.requested = -1;
}

void FakeAllocator::fail(int index, std::int64_t bytes)
{
    Device& device = m_devices[static_cast<std::size_t>(index)];
    {
        const std::lock_guard lock(device.mutex);
        tell(device, { .action = kOom, .address = 12345, .bytes = bytes });
    }
    if (device.callbacks.outOfMemory)
        device.callbacks.outOfMemory(index, bytes);
}

void FakeAllocator::otherSnapshot()
{
    for (Device& device : m_devices) {
        const std::lock_guard lock(device.mutex);
        tell(device, { .action = kSnapshot });
    }
}

/// Of the one FakeAllocator: what it locks, it tells itself.
class FakeAllocator::Locks final : public agent::AllocatorLocks {
public:
    int devices() const override { return kDevices; }
    pthread_mutex_t* of(int device) const override
    {
        return s_one->m_devices[static_cast<std::size_t>(device)].mutex.native_handle();
    }
    bool beginWatch() noexcept override
    {
        ++s_one->m_watches;
        return true;
    }
    void endWatch() noexcept override { --s_one->m_watches; }
};

agent::CallMarks::FindLocks FakeAllocator::findLocks()
{
    return [](const hook::Hook&, int, agent::OnLock onLock, std::string&) {
        s_one->m_onLock = onLock;
        return std::make_unique<Locks>();
    };
}

void FakeAllocator::emptyCache(bool throws)
{
    const hook::Callbacks& callbacks = m_devices[0].callbacks;
    const int token = callbacks.callBegins({ .kind = kEmptyCache });
    for (Device& device : m_devices) {
        const std::lock_guard lock(device.mutex);
        if (m_watches > 0)
            m_onLock(device.mutex.native_handle());
        device.calls.push_back({ kEmptyCache, device.log.size() });
        std::erase_if(device.segments, [&](const auto& item) {
            const bool isFree = item.second.requested < 0;
            if (isFree)
                tell(device, { .action = kSegmentFree, .address = item.first, .bytes = kSegmentBytes });
            return isFree;
        });
    }
    callbacks.callEnds(token, !throws);
}

void FakeAllocator::setFraction(int index, double fraction)
{
    Device& device = m_devices[static_cast<std::size_t>(index)];
    const int token
        = device.callbacks.callBegins({ .kind = kMemoryFraction, .device = index, .fraction = fraction });
    device.calls.push_back({ kMemoryFraction, device.log.size() });
    device.callbacks.callEnds(token, true);
}

void FakeAllocator::setSettings(std::string_view text, bool throws)
{
    const hook::Callbacks& callbacks = m_devices[0].callbacks;
    const int token = callbacks.callBegins({ .kind = kSettings, .text = { text.data(), text.size() } });
    // As where one function that changes them calls another.
    const int inner = callbacks.callBegins({ .kind = kSettings, .text = { text.data(), text.size() } });
    for (Device& device : m_devices)
        device.calls.push_back({ throws ? kSettingsRefused : kSettings, device.log.size() });
    callbacks.callEnds(inner, !throws);
    callbacks.callEnds(token, !throws);
}

bool FakeAllocator::snapshot(const hook::SnapshotSink& sink)
{
    for (Device& device : m_devices) {
        std::map<std::uint64_t, Segment> segments;
        const auto index = static_cast<std::int32_t>(&device - m_devices.data());
        {
            const std::lock_guard lock(device.mutex);
            segments = device.segments;
            device.snapshots.push_back(device.log.size());
            device.callbacks.entry({ .action = kSnapshot, .device = -1 }); // as LibTorch: without its device
        }
        for (const auto& [address, segment] : segments) {
            const bool live = segment.requested >= 0;
            const std::int64_t used = live ? segment.bytes : 0;
            sink.segment(sink.context,
                { .device = index,
                    .large = true,
                    .address = address,
                    .bytes = segment.bytes,
                    .allocatedBytes = used,
                    .activeBytes = used,
                    .requestedBytes = live ? segment.requested : 0,
                    .stream = 0x7000 + static_cast<std::uint64_t>(index) });
            sink.block(sink.context, { address, segment.bytes, live ? segment.requested : 0, live, live });
        }
    }
    sink.setting(sink.context, "expandable_segments", "false");
    return true;
}

} // namespace strata::test
