// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/program/call_marks.h"

#include "capture/interpose/redirect_calls.h"

#include <algorithm>
#include <ctime>
#include <sched.h>
#include <utility>

namespace strata::agent {

namespace {

using Kind = CallMarks::Kind;

constexpr int kMostDevices = 64; // a bit of a mask each

constexpr std::uint64_t bitOf(int device)
{
    return std::uint64_t{ 1 } << device;
}

/// Whether LibTorch takes the lock of a device for it.
bool takesLock(std::uint8_t kind)
{
    return kind != static_cast<std::uint8_t>(Kind::Settings)
        && kind != static_cast<std::uint8_t>(Kind::MemoryFraction);
}

std::uint64_t self() noexcept
{
    return static_cast<std::uint64_t>(pthread_self());
}

/// Of LibTorches that have the function; which one has which, only its own code knows.
bool followSettings(const hook::Hook& hook)
{
    bool followed = false;
    for (const hook::NamedCall* call = hook.namedCalls; call && call->symbol; ++call)
        followed = interpose::redirectAllCalls(call->symbol, call->instead, *call->before) || followed;
    return followed;
}

} // namespace

std::string CallMarks::follow(const hook::Hook& hook, int devices, const FindLocks& find, OnLock onLock)
{
    std::string why;
    if (!hook.followCalls || devices < 1 || devices > kMostDevices)
        return "calls of this allocator cannot be followed";
    m_locks = find(hook, devices, onLock, why);
    if (!m_locks)
        return why;
    const char* reason = "";
    if (!hook.followCalls(&reason))
        return reason;
    return followSettings(hook) ? std::string() : "changes of settings are not seen";
}

CallMarks::UnderWay* CallMarks::take(const hook::Call& call) noexcept
{
    const std::uint64_t mine = self();
    // One function that changes settings calls the other.
    if (call.kind == static_cast<std::uint8_t>(Kind::Settings)
        && std::ranges::any_of(m_underWay, [&](const UnderWay& other) {
               return other.thread.load(std::memory_order_relaxed) == mine && other.call.kind == call.kind;
           }))
        return nullptr;
    for (UnderWay& place : m_underWay) {
        std::uint64_t nobody = 0;
        if (!place.thread.compare_exchange_strong(nobody, mine))
            continue;
        place.call = call;
        place.waiting = place.held = 0;
        place.watching = false;
        return &place;
    }
    return nullptr;
}

int CallMarks::begins(const hook::Call& call) noexcept
{
    if (!m_locks || call.kind >= wire::kAllocatorCallKinds || call.device >= m_locks->devices())
        return -1;
    UnderWay* const taken = take(call);
    if (!taken)
        return -1;
    const int devices = m_locks->devices();
    const std::uint64_t all = devices == kMostDevices ? ~std::uint64_t{ 0 } : bitOf(devices) - 1;
    const std::uint64_t about = call.device < 0 ? all : bitOf(call.device);
    taken->waiting = about;
    if (!takesLock(call.kind)) {
        hold(*taken);
    } else if (taken->watching = m_locks->beginWatch(); !taken->watching) {
        for (int device = 0; device < devices; ++device) // as near as it gets
            if ((std::exchange(taken->waiting, taken->waiting & ~bitOf(device)) & bitOf(device)) != 0)
                markAlone(device, static_cast<Kind>(call.kind), call);
    }
    return static_cast<int>(taken - m_underWay.data());
}

/// Of the devices that the call is about, all or none.
void CallMarks::hold(UnderWay& call) noexcept
{
    constexpr timespec kMillisecond{ 0, 1'000'000 };
    constexpr int kRounds = 100, kTries = 1000;
    const auto isHad = [&](int device, bool first) {
        if (first) // for which one may wait
            return pthread_mutex_lock(m_locks->of(device)) == 0;
        for (int i = 0; i < kTries; ++i, sched_yield())
            if (pthread_mutex_trylock(m_locks->of(device)) == 0)
                return true;
        return false;
    };
    for (int round = 0; round < kRounds; ++round) {
        for (int device = 0; device < m_locks->devices(); ++device) {
            if ((call.waiting & bitOf(device)) == 0)
                continue;
            if (!isHad(device, call.held == 0))
                break;
            call.held |= bitOf(device);
        }
        if (call.held == call.waiting)
            return;
        for (int device = 0; device < m_locks->devices(); ++device)
            if ((call.held & bitOf(device)) != 0)
                pthread_mutex_unlock(m_locks->of(device));
        call.held = 0;
        nanosleep(&kMillisecond, nullptr);
    }
}

void CallMarks::locked(pthread_mutex_t* mutex) noexcept
{
    const std::uint64_t mine = self();
    for (UnderWay& call : m_underWay) {
        if (call.thread.load(std::memory_order_relaxed) != mine || !call.watching)
            continue;
        for (int device = 0; device < m_locks->devices(); ++device)
            if (m_locks->of(device) == mutex && (call.waiting & bitOf(device)) != 0) {
                call.waiting &= ~bitOf(device);
                m_mark(device, static_cast<Kind>(call.call.kind), call.call);
                return;
            }
    }
}

void CallMarks::markAlone(int device, Kind kind, const hook::Call& call) noexcept
{
    if (pthread_mutex_lock(m_locks->of(device)) != 0)
        return;
    m_mark(device, kind, call);
    pthread_mutex_unlock(m_locks->of(device));
}

void CallMarks::ends(int token, bool done) noexcept
{
    if (token < 0)
        return;
    UnderWay& call = m_underWay[static_cast<std::size_t>(token)];
    auto kind = static_cast<Kind>(call.call.kind);
    if (kind == Kind::Settings && !done)
        kind = Kind::SettingsRefused;
    const bool tells = done || kind == Kind::SettingsRefused;
    if (call.watching)
        m_locks->endWatch();
    for (int device = 0; device < m_locks->devices(); ++device) {
        if ((call.held & bitOf(device)) != 0 && tells)
            m_mark(device, kind, call.call);
        else if ((call.waiting & ~call.held & bitOf(device)) != 0 && tells)
            markAlone(device, kind, call.call); // LibTorch took no lock for it after all
    }
    for (int device = 0; device < m_locks->devices(); ++device)
        if ((call.held & bitOf(device)) != 0)
            pthread_mutex_unlock(m_locks->of(device));
    call.thread.store(0, std::memory_order_release);
}

} // namespace strata::agent
