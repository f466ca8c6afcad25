// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/counter_clock.h"
#include "capture/agent/numbers.h"
#include "capture/agent/program/operator_log.h"
#include "capture/cupti/activity.h"
#include "capture/cupti/parse.h"
#include "model/wire/chunk_writer.h"
#include "model/wire/work_codec.h"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace strata::agent {

/// Turns the records of the device's profiler into chunks of a recording. One thread, the recorder's, but for
/// begin().
class WorkRows : cupti::RecordSink {
public:
    /// Which thread of the process has a pthread_t that ends in these 32 bits, as the operating system
    /// counts; 0: not known. (CUPTI counts threads so unless it is told otherwise, which would be for all its
    /// clients.)
    using ThreadOf = std::function<std::uint32_t(std::uint32_t)>;

    WorkRows(Numbers& numbers, const cupti::Library& library, cupti::Activity& activity, ThreadOf threadOf)
        : m_numbers(numbers)
        , m_library(library)
        , m_activity(activity)
        , m_threadOf(std::move(threadOf))
    {
    }

    /// From now on what is in there is written too. Outlives this.
    void writeOperatorsOf(OperatorLog& log) { m_operatorLog = &log; }

    /// What is complete is taken out of the profiler's buffers. Then the clock is read: it turns best what
    /// happened before that.
    void collect() { m_activity.flush(); }
    void write(const CounterClock& clock, wire::ChunkWriter& writer);
    [[nodiscard]] std::uint64_t rows() const { return m_rows; } ///< written so far

private:
    using Times = std::pair<std::uint64_t, std::uint64_t>;

    void kernel(const cupti::KernelRecord& record) override;
    void copy(const cupti::MemcpyRecord& record) override;
    void copy(const cupti::MemcpyPeerRecord& record) override;
    void set(const cupti::MemsetRecord& record) override;
    void call(const cupti::ApiRecord& record) override;
    void wait(const cupti::SynchronizationRecord& record) override;
    void overhead(const cupti::OverheadRecord& record) override;
    void memory(const cupti::MemoryRecord& record) override;
    void unreadable() override { ++m_unreadable; }

    /// False: they are no times of this recording.
    [[nodiscard]] bool turn(Times ticks, std::int64_t& startNs, std::int64_t& durationNs) const;
    void addWork(std::uint32_t device, wire::DeviceWorkRow row, Times ticks);
    void keepApart(const CounterClock& clock, std::uint32_t device, std::vector<wire::DeviceWorkRow>& rows);
    [[nodiscard]] std::uint32_t kernelName(const char* name);
    [[nodiscard]] std::uint32_t callName(const cupti::ApiRecord& record);
    void writeOperators(wire::ChunkWriter& writer);
    [[nodiscard]] wire::OperatorCallRow operatorCall(std::string_view text);
    void writeLosses(const CounterClock& clock, wire::ChunkWriter& writer);

    /// Where the work of a stream ends so far, in ticks and as it was written.
    struct StreamEnd {
        std::uint64_t ticks = 0, taken = 0; ///< of what is written, and with what is still to be
        std::int64_t ns = 0;
    };
    struct OfDevice {
        wire::DeviceWorkChunk chunk;
        std::map<wire::LaunchConfigRow, std::uint32_t> configs; // of the chunk
    };

    Numbers& m_numbers;
    const cupti::Library& m_library;
    cupti::Activity& m_activity;
    ThreadOf m_threadOf;
    const CounterClock* m_clock = nullptr; // within write()
    std::map<std::uint32_t, OfDevice> m_devices;
    std::map<std::pair<std::uint32_t, std::uint32_t>, StreamEnd> m_ends; // by device and stream
    std::vector<wire::WorkCallRow> m_calls;
    std::vector<wire::WorkWaitRow> m_waits;
    std::vector<wire::DriverAllocationRow> m_allocations;
    OperatorLog* m_operatorLog = nullptr;
    std::uint64_t m_operatorsLost = 0;
    std::uint64_t m_unreadable = 0, m_rows = 0;
    std::map<std::uint32_t, std::int32_t> m_deviceOfContext;
    std::unordered_map<std::string, std::uint32_t> m_kernelNames; // as the profiler writes them
    std::map<std::pair<cupti::RecordKind, std::uint32_t>, std::uint32_t> m_callNames; // kNone: not recorded
};

} // namespace strata::agent
