// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/allocator_call_rows.h"
#include "capture/agent/counter_clock.h"
#include "capture/agent/devices.h"
#include "capture/agent/driver_track.h"
#include "capture/agent/event_numbers.h"
#include "capture/agent/live/live_totals.h"
#include "capture/agent/numbers.h"
#include "capture/agent/program/call_log.h"
#include "capture/agent/program/deep_log.h"
#include "capture/agent/program/work_rows.h"
#include "capture/agent/stacks/stacks.h"
#include "capture/agent/taken_state.h"
#include "capture/agent/thread_table.h"
#include "model/wire/chunk_writer.h"
#include "model/wire/follower.h"
#include "model/wire/state.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace strata::agent {

/// Takes events out of the rings and writes them to a sink, on a thread of its own, at least every half
/// second. Everything that may be called from the program's threads is marked; it never waits for the
/// sink, but for flush(). Trouble with the sink is said once on stderr and ends the recording, not the
/// program.
class Recorder {
public:
    struct Options {
        std::int64_t flushNs = 500'000'000; ///< the longest that an event waits for the sink
        /// Likewise, while somebody looks on; with a pause, a window can show 30 generations a second.
        std::int64_t watchedFlushNs = 20'000'000;
        std::int64_t watchedWorkFlushNs = 50'000'000; ///< likewise of kernels, which cost CUPTI a flush
        std::int64_t pauseNs = 10'000'000; ///< between two looks into the rings
        ReadDriver readDriver; ///< called on the recorder's thread
        ModuleTable* modules = nullptr; ///< whose paths there are, if any are told; outlives this
        std::size_t totalsOf = 0; ///< devices that tell of no event: of each only what the driver says
    };

    /// `sink` is empty. References must outlive this.
    Recorder(std::unique_ptr<wire::ChunkSink> sink, std::vector<wire::KeyValue> info, Devices& devices,
        Stacks& stacks, const SequenceTable& texts, std::uint64_t (*counter)() noexcept, Options options);
    ~Recorder();

    void start();
    /// Any thread, once. Kernels are recorded too: `activity` has begun, and is ended with the recording; and
    /// what is in `operators`, which outlives this (nullptr: none are).
    void recordWork(
        const cupti::Library& library, cupti::Activity& activity, OperatorLog* operators = nullptr);
    /// Any thread. From now on a deep step that has ended in there is written, with its calls. They outlive
    /// this.
    void writeDeepStepsOf(DeepLog& log, CallLog& calls);
    /// Any thread. A state whose cut marks are in the rings.
    void add(TakenState state);
    /// Any thread. A range begins or ends, or a mark is set, on a thread, at `timeNs` (since the epoch).
    void annotate(
        wire::AnnotationKind kind, std::string_view name, std::int64_t timeNs, std::uint32_t thread);
    /// Any thread. Where tensors are, each at its place among the events.
    void list(std::vector<ListedTensor> tensors);
    /// Any thread. More of Info; later values replace earlier ones.
    void tell(wire::KeyValue item);
    /// Any thread. Returns when all that is in the rings now is with the system, or after `patienceNs`.
    bool flush(std::int64_t patienceNs);
    /// In a signal handler that ends the process: what is in the rings goes to the system, and by which
    /// `signal` (0: by no signal) the process ended. Waits at most `patienceMs`, on no lock.
    void flushAtEnd(int signal, int patienceMs) noexcept;
    /// In the child of a fork: as wire::ChunkSink has it.
    void forget() noexcept { m_sink->forget(); }
    /// Writes all that is left and the index, and ends the thread.
    void finish();

    /// False once the sink takes no more.
    [[nodiscard]] bool isWriting() const { return m_writing.load(std::memory_order_relaxed); }
    /// Lost in full rings, after finish().
    [[nodiscard]] std::uint64_t lost() const { return m_lostInAll; }
    [[nodiscard]] std::string name() const { return m_sink->name(); } ///< of the sink

private:
    struct Stream {
        wire::EventChunk chunk;
        wire::Follower follower; ///< of all its events
        bool hasState = false; ///< it is written
        std::optional<wire::Digest> digest; ///< once its end state is written
        std::int64_t oldestNs = 0; ///< when its first row came
        std::uint64_t lastCounter = 0; ///< of the last event, and its time
        std::int64_t lastNs = 0;
    };

    void run();
    void look(bool writeAll);
    [[nodiscard]] bool isWorkDue(bool writeAll) const;
    void writeWork();
    void take(std::size_t device, std::uint64_t waiting);
    void takeRecord(std::size_t device, const EventRecord& record);
    void writeEvents(Stream& stream);
    void writeLost();
    void writeState(const TakenState& state);
    void writeSettings(const TakenState& state);
    void writeDriver();
    void tellTotals();
    void writeQueued();
    [[nodiscard]] std::uint32_t threadOf(const EventRecord& record);
    void nameThread(std::uint32_t thread);
    void writeDeepSteps();
    void writeDigests();
    void complain();
    [[nodiscard]] std::int64_t timeOf(Stream& stream, std::uint64_t counter);

    std::unique_ptr<wire::ChunkSink> m_sink;
    wire::ChunkWriter m_writer{ *m_sink };
    Devices& m_devices;
    const SequenceTable& m_texts;
    Options m_options;
    CounterClock m_clock;
    Numbers m_numbers;
    EventNumbers m_eventNumbers;
    std::vector<Stream> m_streams;
    std::unique_ptr<WorkRows> m_work; // once m_workWanted was seen
    std::int64_t m_workNs = 0; // when it was written last
    DriverTrack m_driver;
    LiveTotals m_totals;
    std::int64_t m_totalsNs = 0; // when they were told
    std::map<std::pair<std::uint32_t, std::size_t>, std::uint64_t> m_cuts; // (state, device) -> events before
    std::vector<wire::LostRow> m_lostRows;
    AllocatorCallRows m_calls;
    std::vector<bool> m_threadsMet; // by number of ThreadTable
    std::vector<wire::KeyValue> m_settings;
    std::uint64_t m_lostInAll = 0;
    std::atomic<bool> m_writing{ true };
    bool m_complained = false;

    std::mutex m_mutex; // the rest; never taken under a lock of the allocator
    std::condition_variable m_wake, m_flushed;
    std::vector<TakenState> m_states;
    std::vector<wire::KeyValue> m_info;
    struct Queued {
        wire::AnnotationKind kind;
        std::int64_t timeNs;
        std::uint32_t thread;
        std::string name;
    };
    std::vector<Queued> m_annotations;
    std::map<std::uint32_t, std::string> m_threadNames; // that annotate or allocate
    std::vector<ListedTensor> m_listed;
    struct WorkWanted {
        const cupti::Library* library = nullptr;
        cupti::Activity* activity = nullptr;
        OperatorLog* operators = nullptr;
    };
    WorkWanted m_workWanted;
    std::atomic<DeepLog*> m_deepLog{ nullptr };
    std::atomic<CallLog*> m_callLog{ nullptr };
    std::uint64_t m_flushesWanted = 0, m_flushesDone = 0;
    bool m_finishing = false;
    std::int64_t m_endToldNs = 0; // 0: never, or the program went on
    std::atomic<int> m_endSignal{ 0 };
    std::atomic<pthread_t> m_handle{}; // of m_thread
    std::atomic<std::uint32_t> m_endsWanted{ 0 }, m_endsDone{ 0 }; // by flushAtEnd()
    std::thread m_thread;
};

} // namespace strata::agent
