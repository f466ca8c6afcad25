// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/cupti/layout/records.h"

#include <array>
#include <atomic>
#include <bitset>
#include <cstring>
#include <mutex>

namespace strata::simgpu {

extern std::atomic<bool> g_listens;

/// Whether anybody asked for records: all that a call costs while nobody did.
inline bool anybodyListens()
{
    return g_listens.load(std::memory_order_relaxed);
}

/// What a client of CUPTI's activity interface asked for, and the buffers that it lent: records go into one
/// after the other and are handed back full, or when it flushes. Thread-safe. The client's callbacks run
/// under the lock of the log, on the thread that made the record: what they call of CUDA is not recorded
/// (isHandingOver()).
class ActivityLog {
public:
    using Clock = std::uint64_t (*)();
    using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* mostRecords);
    using CompleteBuffer = void (*)(
        void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes, std::size_t valid);

    void lend(RequestBuffer request, CompleteBuffer complete);
    /// False for a kind that is not known.
    bool want(cupti::RecordKind kind, bool wanted);
    bool wants(cupti::RecordKind kind) const
    {
        return m_wanted[static_cast<std::uint32_t>(kind)].load(kRelaxed);
    }
    /// Records of one call of the runtime or the driver, by its number; all are made at first.
    void wantCall(bool driver, std::uint32_t number, bool wanted);
    bool wantsCall(bool driver, std::uint32_t number);

    /// nullptr for nanoseconds since the epoch. True if that is another clock than before. Takes 5 ms then,
    /// to see how fast it is.
    bool setClock(Clock clock);
    std::uint64_t now() const;
    double unitsPerNs() const { return m_unitsPerNs.load(kRelaxed); }
    /// Times of different generations are of different clocks.
    std::uint32_t clockGeneration() const { return m_clockGeneration.load(kRelaxed); }

    template <class Record> void put(const Record& record)
    {
        static_assert(sizeof(Record) % alignof(std::uint64_t) == 0);
        m_made[static_cast<std::uint32_t>(record.kind)].fetch_add(1, kRelaxed);
        put(&record, sizeof record);
    }
    void flush();
    std::size_t takeDropped();
    /// How many of a kind there were, dropped ones too: what clients are held against.
    std::uint64_t made(std::uint32_t kind) const { return m_made[kind].load(kRelaxed); }
    static bool isHandingOver();

    /// Held around fork(), so that a child never inherits a held lock.
    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }
    /// In a child of fork(): the buffers are its parent's.
    void forget();

private:
    static constexpr auto kRelaxed = std::memory_order_relaxed;
    static constexpr std::uint32_t kCalls = 2048;

    void put(const void* record, std::size_t bytes);
    void handOver();
    bool takeBuffer(std::size_t bytes);

    std::mutex m_mutex; // of all but the atomics
    RequestBuffer m_request = nullptr;
    CompleteBuffer m_complete = nullptr;
    std::uint8_t* m_buffer = nullptr;
    std::size_t m_bytes = 0;
    std::size_t m_used = 0;
    std::array<std::bitset<kCalls>, 2> m_quiet; ///< calls of the runtime, of the driver
    std::array<std::atomic<bool>, cupti::kKinds> m_wanted{};
    std::array<std::atomic<std::uint64_t>, cupti::kKinds> m_made{};
    std::atomic<std::size_t> m_dropped{ 0 }; ///< clients ask for it as a buffer comes back
    std::atomic<Clock> m_clock{ nullptr };
    std::atomic<double> m_unitsPerNs{ 1 };
    std::atomic<std::uint32_t> m_clockGeneration{ 0 };
};

/// That of this process, never destroyed.
ActivityLog& activityLog();

} // namespace strata::simgpu
