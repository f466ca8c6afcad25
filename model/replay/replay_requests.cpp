// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/replay_requests.h"

namespace strata::model {

ReplayRequests ReplayRequests::of(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    ReplayRequests requests;
    requests.trace = &trace;
    requests.action = lent(events.action);
    requests.bytes = lent(events.bytes);
    requests.block = lent(events.block);
    requests.stream = lent(events.stream);
    requests.address = lent(events.address);
    requests.freeRequested = lent(trace.blocks().freeRequested);
    requests.freeCompleted = lent(trace.blocks().freeCompleted);
    requests.segments = lent(trace.segmentLives());
    requests.calls = lent(AllocatorCalls::of(trace.recording(), trace.device()));
    requests.streams = trace.recording().streams;
    return requests;
}

} // namespace strata::model
