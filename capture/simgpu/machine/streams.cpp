// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/streams.h"

#include <algorithm>

namespace strata::simgpu {

namespace {

constexpr unsigned kDisableTiming = 2;
constexpr Streams::StreamHandle kHandleStep = 0x40;
constexpr Streams::StreamHandle kLastDefault = 2;

void join(std::vector<GraphNode*>& frontier, const std::vector<GraphNode*>& nodes)
{
    for (GraphNode* node : nodes) {
        if (std::find(frontier.begin(), frontier.end(), node) == frontier.end())
            frontier.push_back(node);
    }
}

} // namespace

Streams::StreamHandle Streams::create(int device, unsigned flags, int priority)
{
    const StreamHandle handle = m_next;
    m_next += kHandleStep;
    Stream& stream = m_streams[handle];
    stream.device = device;
    stream.flags = flags;
    stream.priority = priority;
    return handle;
}

Status Streams::destroy(StreamHandle handle)
{
    if (handle <= kLastDefault || m_streams.erase(handle) == 0)
        return Status::InvalidHandle;
    return Status::Ok;
}

Streams::Stream* Streams::find(StreamHandle handle)
{
    if (handle <= kLastDefault)
        return &m_streams[handle];
    const auto stream = m_streams.find(handle);
    return stream == m_streams.end() ? nullptr : &stream->second;
}

Status Streams::synchronize(StreamHandle handle)
{
    Stream* stream = find(handle);
    if (!stream)
        return Status::InvalidHandle;
    if (stream->capture) {
        stream->capture->invalid = true;
        return Status::CaptureUnsupported;
    }
    stream->syncedAt = ++m_tick;
    return Status::Ok;
}

Status Streams::record(Event& event, StreamHandle handle)
{
    Stream* stream = find(handle);
    if (!stream)
        return Status::InvalidHandle;
    event.recorded = true;
    event.stream = handle;
    event.capture = stream->capture;
    if (stream->capture) {
        event.frontier = stream->frontier;
        return Status::Ok;
    }
    event.frontier.clear();
    event.time = Clock::now();
    event.queriesLeft = m_eventLag;
    event.recordedAt = ++m_tick;
    return Status::Ok;
}

Status Streams::query(Event& event)
{
    if (const CapturePtr capture = event.capture.lock()) {
        capture->invalid = true;
        return Status::CapturedEvent;
    }
    if (event.queriesLeft == 0)
        return Status::Ok;
    const Stream* stream = find(event.stream);
    if (m_allSyncedAt > event.recordedAt || !stream || stream->syncedAt > event.recordedAt) {
        event.queriesLeft = 0;
        return Status::Ok;
    }
    --event.queriesLeft;
    return Status::NotReady;
}

Status Streams::wait(StreamHandle handle, const Event& event)
{
    Stream* stream = find(handle);
    if (!stream)
        return Status::InvalidHandle;
    const CapturePtr capture = event.capture.lock();
    if (!capture)
        return Status::Ok;
    if (stream->capture && stream->capture != capture)
        return Status::IllegalState;
    stream->capture = capture;
    join(stream->frontier, event.frontier);
    return Status::Ok;
}

Status Streams::elapsed(Event& from, Event& to, float& milliseconds)
{
    for (Event* event : { &from, &to }) {
        if (!event->recorded || (event->flags & kDisableTiming) != 0)
            return Status::InvalidHandle;
        if (const Status status = query(*event); status != Status::Ok)
            return status;
    }
    const std::chrono::duration<float, std::milli> between = to.time - from.time;
    milliseconds = between.count();
    return Status::Ok;
}

const Streams::CapturePtr& Streams::capture(StreamHandle handle)
{
    static const CapturePtr none;
    const Stream* stream = anyCapture() ? find(handle) : nullptr;
    return stream ? stream->capture : none;
}

Status Streams::beginCapture(StreamHandle handle, Graph* into, std::vector<GraphNode*> dependencies)
{
    Stream* stream = find(handle);
    if (!stream)
        return Status::InvalidHandle;
    if (handle < kLastDefault)
        return Status::CaptureUnsupported;
    if (stream->capture)
        return Status::IllegalState;
    auto capture = std::make_shared<Capture>();
    capture->id = ++m_captureId;
    capture->origin = handle;
    if (!into)
        capture->owned = std::make_unique<Graph>();
    capture->graph = into ? into : capture->owned.get();
    stream->capture = std::move(capture);
    stream->frontier = std::move(dependencies);
    m_captures.fetch_add(1, std::memory_order_release);
    return Status::Ok;
}

Status Streams::endCapture(StreamHandle handle, Graph*& out)
{
    out = nullptr;
    Stream* origin = find(handle);
    if (!origin || !origin->capture)
        return Status::IllegalState;
    if (origin->capture->origin != handle)
        return Status::CaptureUnmatched;
    const CapturePtr capture = origin->capture;
    const std::vector<GraphNode*> ends = origin->frontier;
    bool unjoined = false;
    for (auto& [key, stream] : m_streams) {
        if (stream.capture != capture)
            continue;
        for (const GraphNode* node : stream.frontier) {
            if (!node->hasDependents && std::find(ends.begin(), ends.end(), node) == ends.end())
                unjoined = true;
        }
        stream.capture.reset();
        stream.frontier.clear();
    }
    m_captures.fetch_sub(1, std::memory_order_release);
    if (capture->invalid)
        return Status::CaptureInvalidated;
    if (unjoined)
        return Status::CaptureUnjoined;
    out = capture->owned ? capture->owned.release() : capture->graph;
    return Status::Ok;
}

GraphNode* Streams::append(StreamHandle handle, NodeType type, std::function<void()> run)
{
    const CapturePtr& current = capture(handle);
    if (!current)
        return nullptr;
    Stream& stream = *find(handle);
    GraphNode& node = current->graph->add(type, std::move(stream.frontier), std::move(run));
    stream.frontier.assign(1, &node);
    return &node;
}

} // namespace strata::simgpu
