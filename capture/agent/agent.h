// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/agent_options.h"
#include "capture/agent/devices.h"
#include "capture/agent/program/call_marks.h"
#include "capture/agent/program/deep_watch.h"
#include "capture/agent/program/tensor_table.h"
#include "capture/agent/recorder.h"
#include "capture/agent/stacks/stacks.h"
#include "capture/agent/thread_table.h"
#include "capture/hook/torch_hook.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace strata::agent {

/// The recorder inside a process: takes what a hook tells, on the threads that allocate, and hands it to a
/// Recorder. LibTorch cannot be told to stop telling, so an agent that was attached is never destroyed; it
/// can record again after stop().
///
/// No exception leaves it, and no failure of its own ends the program: it is said once on stderr.
class Agent {
public:
    /// `deviceCount`: devices beyond are not recorded.
    Agent(const hook::Hook& hook, int deviceCount);

    /// Attaches, takes the base state and begins to write. False when nothing is recorded; why was said.
    bool start(const AgentOptions& options, std::vector<wire::KeyValue> facts);
    /// Records what the driver says alone, of an allocator that tells of no event; `refusal` is why.
    bool startTotals(
        const AgentOptions& options, std::vector<wire::KeyValue> facts, const std::string& refusal);
    /// Takes the end state, writes everything and ends the file. Nothing if nothing is recorded.
    void stop();
    /// The file of the recording, empty if nothing is recorded.
    [[nodiscard]] std::string recordingName() const;
    [[nodiscard]] bool isRecording() const { return m_recorder.load(std::memory_order_acquire) != nullptr; }

    /// Before start(): who knows what the driver says. Without one it is not recorded.
    void readDriverBy(ReadDriver read) { m_readDriver = std::move(read); }

    /// Before start(): who finds the locks of the allocator. Without one its calls are not recorded.
    void findLocksBy(CallMarks::FindLocks find) { m_findLocks = std::move(find); }

    /// As Recorder::annotate(). Nothing if nothing is recorded.
    void annotate(wire::AnnotationKind kind, std::string_view name) noexcept;
    /// The same of what happened before there was a recording.
    void annotate(
        wire::AnnotationKind kind, std::string_view name, std::int64_t timeNs, std::uint32_t thread) noexcept;
    void tell(wire::KeyValue item);
    /// Where tensors are now, of the devices that are recorded. Nothing if nothing is recorded.
    void list(std::span<const PlacedTensor> tensors);
    /// A deep step begins now, on this thread; false: there can be none, because nothing is recorded, this
    /// LibTorch lets nobody watch its operators, or there was one.
    [[nodiscard]] bool beginDeepStep();
    /// What is told of that step goes there. addSaved(), addModule() and addCall() may come on any thread,
    /// the rest on the one that it began on.
    [[nodiscard]] DeepWatch& deepStep() { return m_deep; }
    /// Those that some of the tensors lie on, at::TensorImpls. Any thread.
    [[nodiscard]] std::set<std::int32_t> devicesOf(std::span<const void* const> tensors) const;

    /// PythonFrames::check() agreed: from now on they are read, where a recording asks for them.
    void trustPython() noexcept;
    void trustPythonLocals() noexcept; ///< likewise PythonFrames::checkLocals()

    /// Before start(): whose paths modules have; outlives this. Without it they have none.
    void nameModulesBy(ModuleTable* modules) { m_modules = modules; }

    /// In a signal handler, or where the process ends by no other way that is told of: what was recorded goes
    /// to the system. Waits half a second at most, on no lock.
    void flushAtEnd(int signal) noexcept;

    /// In the child of a fork: the parent's recording goes on there alone.
    void forget() noexcept;

    /// What hooks call.
    void onEntry(const hook::Entry& entry) noexcept;
    void onOutOfMemory(std::int32_t device, std::int64_t bytes) noexcept;
    int onCallBegins(const hook::Call& call) noexcept;
    void onCallEnds(int token, bool done) noexcept { m_calls.ends(token, done); }
    void onOperator(const hook::OperatorSpan& span) noexcept { m_operators.add(span, threadNumber()); }
    void onLock(pthread_mutex_t* mutex) noexcept { m_calls.locked(mutex); }

private:
    bool prepare(const AgentOptions& options);
    bool takeState(StatePurpose purpose);
    void recordKernels(Recorder& recorder, const AgentOptions& options);
    [[nodiscard]] OperatorLog* recordOperators(Recorder& recorder, const AgentOptions& options);
    Recorder& makeRecorder(
        std::unique_ptr<wire::ChunkSink> sink, std::vector<wire::KeyValue> facts, bool followed);
    void takeStack(Device& device, const hook::Entry& entry, EventRecord& record) noexcept;
    void onSnapshot() noexcept;
    void followCalls();
    void tellFractions(Recorder& recorder);
    void mark(int device, CallMarks::Kind kind, const hook::Call& call) noexcept;

    const hook::Hook& m_hook;
    Devices m_devices;
    int m_deviceCount;
    std::unique_ptr<Stacks> m_stacks; // made once, with the options of the first recording; likewise the next
    std::unique_ptr<SequenceTable> m_texts;
    std::atomic<Recorder*> m_recorder{ nullptr };
    std::vector<std::unique_ptr<Recorder>> m_ended; // a thread may still be about to look at one
    std::atomic<bool> m_forked{ false };
    std::atomic<bool> m_pythonTrusted{ false }, m_localsTrusted{ false };
    ModuleTable* m_modules = nullptr;
    OperatorLog m_operators;
    DeepWatch m_deep{ m_hook, m_devices };
    bool m_hadDeepStep = false; // this recording
    std::string m_simulatedDevice; // of this recording
    ReadDriver m_readDriver;
    Devices m_noDevices; // where events are not told
    CallMarks::FindLocks m_findLocks;
    CallMarks m_calls{ [this](int device, CallMarks::Kind kind, const hook::Call& call) {
        mark(device, kind, call);
    } };
    std::string m_callsMissing; // of all calls, and why; empty: all are followed
    bool m_attached = false;
    bool m_followed = false; // by this recording

    std::mutex m_control; // start, stop and out of memory; never taken under a lock of the allocator
    std::atomic<std::uint64_t> m_snapshotThread{ 0 }; // that takes a snapshot of ours, 0 none
    std::size_t m_devicesSeen = 0; // by that thread
    std::int64_t m_bytesBefore = 0; // in the segments of the base state
    std::atomic<std::uint32_t> m_stateNumber{ 0 };
    std::atomic<StatePurpose> m_statePurpose{ StatePurpose::Base };
};

} // namespace strata::agent
