// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/program/allocator_locks.h"
#include "capture/hook/torch_hook.h"
#include "model/wire/kinds.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <pthread.h>
#include <string>

namespace strata::agent {

/// Finds the place among the events of a device at which a call of the allocator takes effect, and has it
/// marked there, under the lock of the device:
///
///   empty_cache, pools    where the call itself takes the lock first, whatever other threads do meanwhile
///   settings, fractions   LibTorch changes them without a lock: we hold it until they are changed, of
///   settings
///                         those of all devices
///
/// Nothing is done between calls: an allocation costs what it did. Locks of several devices are only tried
/// for, so that nobody waits in a circle; if they are not had together within a second, each is marked on its
/// own. Everything may be called by any thread.
class CallMarks {
public:
    using Kind = wire::AllocatorCallKind;
    /// Called under the lock of the device.
    using Mark = std::function<void(int device, Kind kind, const hook::Call& call)>;
    using FindLocks = std::function<std::unique_ptr<AllocatorLocks>(
        const hook::Hook& hook, int devices, OnLock onLock, std::string& why)>;

    explicit CallMarks(Mark mark)
        : m_mark(std::move(mark))
    {
    }

    /// Once, after the hook was attached. Empty: all calls are followed from now on; else which are not, and
    /// why. `onLock` and what the hook calls are to lead to the functions below.
    [[nodiscard]] std::string follow(
        const hook::Hook& hook, int devices, const FindLocks& find, OnLock onLock);

    /// What hooks call.
    [[nodiscard]] int begins(const hook::Call& call) noexcept;
    void ends(int token, bool done) noexcept;
    void locked(pthread_mutex_t* mutex) noexcept;

private:
    /// A call that has begun, by the thread that makes it; other threads see only whose it is.
    struct UnderWay {
        std::atomic<std::uint64_t> thread{ 0 }; ///< 0: nobody's
        hook::Call call;
        std::uint64_t waiting = 0; ///< devices whose lock it has not taken yet, bit by bit
        std::uint64_t held = 0; ///< devices whose lock we hold
        bool watching = false;
    };

    [[nodiscard]] UnderWay* take(const hook::Call& call) noexcept;
    void hold(UnderWay& call) noexcept;
    void markAlone(int device, Kind kind, const hook::Call& call) noexcept;

    Mark m_mark;
    std::unique_ptr<AllocatorLocks> m_locks;
    std::array<UnderWay, 16> m_underWay; // more at a time are not marked
};

} // namespace strata::agent
