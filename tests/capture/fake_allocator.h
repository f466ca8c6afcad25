// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/hook/torch_hook.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace strata::test {

/// Stands in for LibTorch behind a hook: a lock for each device, under which it tells of every event, and
/// snapshots as LibTorch takes them. Each block has a segment of its own, which is used again. It keeps a log
/// of all that it told, so that a recording can be held against it.
class FakeAllocator {
public:
    static constexpr int kDevices = 2;

    FakeAllocator();
    ~FakeAllocator();
    FakeAllocator(const FakeAllocator&) = delete;
    FakeAllocator& operator=(const FakeAllocator&) = delete;

    /// Its functions work on the one FakeAllocator that there is.
    [[nodiscard]] const hook::Hook& hook() const;

    std::uint64_t allocate(int device, std::int64_t bytes, std::string_view metadata = {});
    void release(int device, std::uint64_t address);
    /// Tells of an out-of-memory and calls the observer, as before an exception.
    void fail(int device, std::int64_t bytes);
    /// A snapshot that somebody else takes.
    void otherSnapshot();

    /// What was told of a device since its tracker was attached, without our own snapshots; and how much of
    /// it came before the base state.
    [[nodiscard]] const std::vector<hook::Entry>& log(int device) const { return m_devices[device].log; }
    [[nodiscard]] std::size_t loggedBefore(int device, std::size_t snapshot) const
    {
        return m_devices[device].snapshots[snapshot];
    }

private:
    struct Segment {
        std::int64_t bytes = 0;
        std::int64_t requested = -1; ///< -1: free
    };
    struct Device {
        std::mutex mutex;
        std::map<std::uint64_t, Segment> segments;
        std::vector<hook::Entry> log;
        std::vector<std::size_t> snapshots; ///< size of the log at each of ours
        std::uint64_t next = 0;
        hook::Callbacks callbacks;
    };

    void tell(Device& device, hook::Entry entry);
    bool snapshot(const hook::SnapshotSink& sink);

    static FakeAllocator* s_one;
    std::array<Device, kDevices> m_devices;
    hook::Hook m_hook;
};

} // namespace strata::test
