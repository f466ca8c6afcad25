// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/allocator_locks.h"

#include "capture/interpose/redirect_calls.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace strata::agent {

namespace {

using Lock = int (*)(pthread_mutex_t*);

// LibTorch's calls lead to lockAndTell() for moments, and threads may come out of it later.
std::atomic<Lock> g_lock{ nullptr };
std::atomic<OnLock> g_onLock{ nullptr };

int lockAndTell(pthread_mutex_t* mutex)
{
    const int result = g_lock.load(std::memory_order_acquire)(mutex);
    if (result == 0)
        if (const OnLock onLock = g_onLock.load(std::memory_order_acquire))
            onLock(mutex);
    return result;
}

/// What the one thread that learns locks.
struct Lesson {
    std::atomic<pthread_t> thread{};
    std::array<pthread_mutex_t*, 2> locked{};
    std::size_t count = 0;
};
Lesson g_lesson;

void learn(pthread_mutex_t* mutex) noexcept
{
    if (pthread_equal(g_lesson.thread.load(), pthread_self()) && g_lesson.count < g_lesson.locked.size())
        g_lesson.locked[g_lesson.count++] = mutex;
}

bool isRecursive(const pthread_mutex_t& mutex)
{
    constexpr int kKind = 3;
    return (mutex.__data.__kind & kKind) == PTHREAD_MUTEX_RECURSIVE_NP;
}

class LibTorchLocks final : public AllocatorLocks {
public:
    LibTorchLocks(interpose::CallPlaces places, std::vector<pthread_mutex_t*> locks)
        : m_places(std::move(places))
        , m_locks(std::move(locks))
    {
    }
    int devices() const override { return static_cast<int>(m_locks.size()); }
    pthread_mutex_t* of(int device) const override { return m_locks[static_cast<std::size_t>(device)]; }
    bool beginWatch() noexcept override
    {
        const std::lock_guard lock(m_mutex);
        if (m_watches == 0 && !m_places.lead(reinterpret_cast<void*>(lockAndTell)))
            return false;
        ++m_watches;
        return true;
    }
    void endWatch() noexcept override
    {
        const std::lock_guard lock(m_mutex);
        if (--m_watches == 0)
            (void)m_places.lead(m_places.target()); // or they go on through us
    }

private:
    interpose::CallPlaces m_places;
    std::vector<pthread_mutex_t*> m_locks;
    std::mutex m_mutex; // of the next
    int m_watches = 0;
};

} // namespace

std::unique_ptr<AllocatorLocks> findAllocatorLocks(
    const hook::Hook& hook, int devices, OnLock onLock, std::string& why)
{
    interpose::CallPlaces places("libc10_cuda.so", "pthread_mutex_lock");
    if (!places.target()) {
        why = "the locks of this LibTorch are not seen";
        return nullptr;
    }
    g_lock.store(reinterpret_cast<Lock>(places.target()));
    std::vector<pthread_mutex_t*> locks;
    g_lesson.thread.store(pthread_self());
    g_onLock.store(learn);
    if (places.lead(reinterpret_cast<void*>(lockAndTell))) {
        for (int device = 0; device < devices; ++device) {
            g_lesson.count = 0;
            hook.touch(device);
            pthread_mutex_t* const lock = g_lesson.locked[0];
            if (g_lesson.count == 1 && isRecursive(*lock) && std::ranges::find(locks, lock) == locks.end())
                locks.push_back(lock);
        }
        (void)places.lead(places.target());
    }
    g_onLock.store(onLock);
    if (static_cast<int>(locks.size()) != devices) {
        why = "the locks of this LibTorch are not as they are known to be";
        return nullptr;
    }
    return std::make_unique<LibTorchLocks>(std::move(places), std::move(locks));
}

} // namespace strata::agent
