// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/machine/graph.h"
#include "capture/simgpu/machine/status.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace strata::simgpu {

/// Streams, events and graph capture. All work is finished when it is issued; an event can be told to answer
/// a number of queries with "not ready" first, unless its stream or device was synchronised since. Not
/// thread-safe, but for anyCapture(). Handles of streams are numbers, the same in each run.
class Streams {
public:
    using StreamHandle = std::uintptr_t; ///< 0 to 2 are the default streams, which every device has
    using Clock = std::chrono::steady_clock;

    /// One capture in progress: all streams that joined it record into one graph.
    struct Capture {
        std::uint64_t id = 0;
        StreamHandle origin = 0;
        Graph* graph = nullptr;
        std::unique_ptr<Graph> owned; ///< unset while capturing into a graph of the program
        bool invalid = false;
    };
    using CapturePtr = std::shared_ptr<Capture>;

    struct Stream {
        int device = 0;
        int priority = 0;
        unsigned flags = 0;
        CapturePtr capture;
        std::vector<GraphNode*> frontier; ///< what the next captured piece of work depends on
        std::uint64_t syncedAt = 0;
    };

    struct Event {
        unsigned flags = 0;
        bool recorded = false;
        int queriesLeft = 0;
        std::uint64_t recordedAt = 0; ///< in ticks, as Stream::syncedAt
        StreamHandle stream = 0;
        Clock::time_point time;
        std::weak_ptr<Capture> capture;
        std::vector<GraphNode*> frontier;
        // Of the activities that somebody listens to; 0 and unused where nobody did.
        std::uint64_t doneAt = 0; ///< by the clock of generation `clock`
        std::uint32_t clock = 0;
        std::uint32_t number = 0;
        std::uint64_t recordNumber = 0; ///< of its last recording
    };

    explicit Streams(int eventLag)
        : m_eventLag(eventLag)
    {
    }

    StreamHandle create(int device, unsigned flags, int priority);
    Status destroy(StreamHandle handle);
    /// nullptr for an unknown handle. Default streams are made on first use.
    Stream* find(StreamHandle handle);
    Status synchronize(StreamHandle handle);
    void synchronizeAll() { m_allSyncedAt = ++m_tick; }

    Status record(Event& event, StreamHandle handle);
    Status query(Event& event);
    void synchronize(Event& event) { event.queriesLeft = 0; }
    Status wait(StreamHandle handle, const Event& event);
    /// InvalidHandle where an event was never recorded or keeps no time, NotReady where it is late.
    Status elapsed(Event& from, Event& to, float& milliseconds);

    /// Whether any stream captures: the only member that may be called without the lock.
    bool anyCapture() const { return m_captures.load(std::memory_order_acquire) > 0; }
    /// The capture that the stream is part of, or nullptr.
    const CapturePtr& capture(StreamHandle handle);
    Status beginCapture(StreamHandle handle, Graph* into, std::vector<GraphNode*> dependencies);
    /// On success `out` is the graph, which belongs to the caller unless it was given to beginCapture().
    Status endCapture(StreamHandle handle, Graph*& out);
    /// Adds a piece of work to the capture of a stream: its node, or nullptr when the stream is not
    /// capturing: do it now.
    GraphNode* append(StreamHandle handle, NodeType type, std::function<void()> run = {});

private:
    int m_eventLag;
    std::unordered_map<StreamHandle, Stream> m_streams;
    StreamHandle m_next = 0x1000;
    std::uint64_t m_captureId = 0;
    std::uint64_t m_tick = 0;
    std::uint64_t m_allSyncedAt = 0;
    std::atomic<int> m_captures{ 0 };
};

} // namespace strata::simgpu
