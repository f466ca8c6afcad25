// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/torch_hook.h"

#include <memory>
#include <pthread.h>
#include <string>

namespace strata::agent {

/// The locks that the allocator holds while it serves a device: whoever holds one stands between two events.
/// Recursive, as LibTorch's are. Any thread.
class AllocatorLocks {
public:
    virtual ~AllocatorLocks() = default;

    [[nodiscard]] virtual int devices() const = 0;
    [[nodiscard]] virtual pthread_mutex_t* of(int device) const = 0;
    /// Between a begin and its end, onLock is called on every thread that has taken one of them, under it.
    /// False where that cannot be.
    [[nodiscard]] virtual bool beginWatch() noexcept = 0;
    virtual void endWatch() noexcept = 0;
};

/// `mutex`: of whatever LibTorch locked.
using OnLock = void (*)(pthread_mutex_t* mutex) noexcept;

/// Those of the LibTorch of this process, once its allocator is ready: seen as the hook takes each of them.
/// Nothing, and why, where they are not as they are known to be. `devices`: at most kMostDevices.
[[nodiscard]] std::unique_ptr<AllocatorLocks> findAllocatorLocks(
    const hook::Hook& hook, int devices, OnLock onLock, std::string& why);

} // namespace strata::agent
