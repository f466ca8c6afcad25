// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/agent/program/call_marks.h"
#include "capture/hook/torch_hook.h"
#include "model/wire/kinds.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>
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

    /// log() stays empty from now on: of who allocates for hours.
    void keepNoLog() { m_keepsLog = false; }

    /// For runs of many events: nothing is logged from now on.
    void stopLogging() { m_logs = false; }

    /// What autograd does from now on.
    void setPhase(wire::EventPhase phase) { m_phase = phase; }

    /// Calls besides memory, told to the hook as LibTorch's are. This one takes the lock of each device, one
    /// after the other, and gives back free segments; it throws, having done so, if it is to.
    void emptyCache(bool throws = false);
    /// These take no lock.
    void setFraction(int device, double fraction);
    void setSettings(std::string_view text, bool throws = false);

    /// Such a call as it took effect on a device: how many entries had been logged.
    struct CallPlace {
        int kind = 0;
        std::size_t logged = 0;
    };
    [[nodiscard]] const std::vector<CallPlace>& calls(int device) const { return m_devices[device].calls; }
    /// For Agent::findLocksBy().
    [[nodiscard]] static agent::CallMarks::FindLocks findLocks();

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
        std::recursive_mutex mutex; ///< as LibTorch's
        std::map<std::uint64_t, Segment> segments;
        std::vector<hook::Entry> log;
        std::vector<CallPlace> calls;
        std::vector<std::size_t> snapshots; ///< size of the log at each of ours
        std::uint64_t next = 0;
        hook::Callbacks callbacks;
    };

    class Locks;

    void tell(Device& device, hook::Entry entry);
    bool snapshot(const hook::SnapshotSink& sink);

    static FakeAllocator* s_one;
    std::array<Device, kDevices> m_devices;
    hook::Hook m_hook;
    agent::OnLock m_onLock = nullptr;
    std::atomic<bool> m_logs{ true };
    std::atomic<int> m_watches{ 0 };
    bool m_keepsLog = true;
    std::atomic<wire::EventPhase> m_phase{};
};

} // namespace strata::test
