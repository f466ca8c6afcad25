// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/entry/activity_log.h"

#include "capture/simgpu/entry/least_time.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace strata::simgpu {

std::atomic<bool> g_listens{ false };

namespace {

thread_local bool t_handingOver = false;

class HandingOver {
public:
    HandingOver() { t_handingOver = true; }
    ~HandingOver() { t_handingOver = false; }
    HandingOver(const HandingOver&) = delete;
    HandingOver& operator=(const HandingOver&) = delete;
};

double measureUnitsPerNs(ActivityLog::Clock clock)
{
    using Steady = std::chrono::steady_clock;
    const auto began = Steady::now();
    const std::uint64_t first = clock();
    Steady::time_point ended;
    do {
        ended = Steady::now();
    } while (ended - began < std::chrono::milliseconds(5));
    const std::chrono::duration<double, std::nano> took = ended - began;
    const double units = static_cast<double>(clock() - first) / took.count();
    return units > 0 ? units : 1;
}

} // namespace

ActivityLog& activityLog()
{
    static auto* const log = new ActivityLog;
    return *log;
}

void ActivityLog::lend(RequestBuffer request, CompleteBuffer complete)
{
    const std::lock_guard lock(m_mutex);
    m_request = request;
    m_complete = complete;
}

bool ActivityLog::want(cupti::RecordKind kind, bool wanted)
{
    const auto number = static_cast<std::uint32_t>(kind);
    if (number == 0 || number >= cupti::kKinds)
        return false;
    {
        const std::lock_guard lock(m_mutex);
        m_wanted[number].store(wanted, kRelaxed);
        g_listens.store(std::any_of(m_wanted.begin(), m_wanted.end(),
                            [](const auto& each) { return each.load(kRelaxed); }),
            kRelaxed);
    }
    tellWhetherListened();
    return true;
}

void ActivityLog::wantCall(bool driver, std::uint32_t number, bool wanted)
{
    const std::lock_guard lock(m_mutex);
    if (number < kCalls)
        m_quiet[driver ? 1 : 0].set(number, !wanted);
}

bool ActivityLog::wantsCall(bool driver, std::uint32_t number)
{
    if (!wants(driver ? cupti::RecordKind::Driver : cupti::RecordKind::Runtime))
        return false;
    const std::lock_guard lock(m_mutex);
    return number >= kCalls || !m_quiet[driver ? 1 : 0].test(number);
}

bool ActivityLog::setClock(Clock clock)
{
    if (clock == m_clock.load(kRelaxed))
        return false;
    m_unitsPerNs.store(clock ? measureUnitsPerNs(clock) : 1, kRelaxed);
    m_clock.store(clock, kRelaxed);
    m_clockGeneration.fetch_add(1, kRelaxed);
    return true;
}

std::uint64_t ActivityLog::now() const
{
    if (const Clock clock = m_clock.load(kRelaxed))
        return clock();
    const auto sinceEpoch = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(sinceEpoch).count());
}

void ActivityLog::put(const void* record, std::size_t bytes)
{
    const std::lock_guard lock(m_mutex);
    if (!m_buffer || m_used + bytes > m_bytes) {
        const bool handsOver = m_buffer != nullptr;
        const std::uint64_t began = now();
        handOver();
        cupti::OverheadRecord overhead;
        const bool tells = handsOver && wants(cupti::RecordKind::Overhead);
        if (!takeBuffer(bytes + (tells ? sizeof overhead : 0))) {
            m_dropped.fetch_add(1, kRelaxed);
            return;
        }
        if (tells) {
            overhead.process = static_cast<std::uint32_t>(getpid());
            overhead.thread = static_cast<std::uint32_t>(pthread_self());
            overhead.start = began;
            overhead.end = now();
            std::memcpy(m_buffer, &overhead, sizeof overhead);
            m_used = sizeof overhead;
        }
    }
    std::memcpy(m_buffer + m_used, record, bytes);
    m_used += bytes;
}

void ActivityLog::handOver()
{
    if (!m_buffer)
        return;
    const HandingOver handing;
    std::uint8_t* const full = m_buffer;
    m_buffer = nullptr;
    m_complete(nullptr, 0, full, m_bytes, m_used);
}

bool ActivityLog::takeBuffer(std::size_t bytes)
{
    if (!m_request || !m_complete)
        return false;
    const HandingOver handing;
    std::size_t mostRecords = 0;
    m_used = 0;
    m_bytes = 0;
    m_request(&m_buffer, &m_bytes, &mostRecords);
    if (m_buffer && m_bytes >= bytes)
        return true;
    if (m_buffer) // too small for anything: theirs again
        handOver();
    return false;
}

void ActivityLog::flush()
{
    const std::lock_guard lock(m_mutex);
    handOver();
}

std::size_t ActivityLog::takeDropped()
{
    return m_dropped.exchange(0, kRelaxed);
}

bool ActivityLog::isHandingOver()
{
    return t_handingOver;
}

void ActivityLog::forget()
{
    g_listens.store(false, kRelaxed);
    for (auto& wanted : m_wanted)
        wanted.store(false, kRelaxed);
    m_buffer = nullptr;
}

} // namespace strata::simgpu
