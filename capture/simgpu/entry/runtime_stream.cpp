// SPDX-License-Identifier: Apache-2.0
// CUDA runtime: streams, events, host functions.
#include "capture/simgpu/entry/activity.h"

#include <cstring>

namespace strata::simgpu {

namespace {

using api::Result;
using Event = Streams::Event;

Event* eventOf(void* handle)
{
    return static_cast<Event*>(handle);
}

} // namespace

STRATA_API Result cudaStreamCreateWithPriority(void** out, unsigned flags, int priority)
{
    const ApiCall call(Api::StreamCreateWithPriority);
    const auto lock = locked();
    *out = pointerTo(machine().streams.create(currentDevice(), flags, priority));
    return 0;
}

STRATA_API Result cudaStreamCreateWithFlags(void** out, unsigned flags)
{
    const ApiCall call(Api::StreamCreateWithFlags);
    return cudaStreamCreateWithPriority(out, flags, 0);
}

STRATA_API Result cudaStreamCreate(void** out)
{
    const ApiCall call(Api::StreamCreate);
    return cudaStreamCreateWithPriority(out, 0, 0);
}

STRATA_API Result cudaStreamDestroy(void* stream)
{
    const ApiCall call(Api::StreamDestroy);
    const auto lock = locked();
    return remember(machine().streams.destroy(addressOf(stream)));
}

STRATA_API Result cudaStreamQuery(void* stream)
{
    const ApiCall call(Api::StreamQuery);
    const auto lock = locked();
    const Streams::Stream* found = machine().streams.find(addressOf(stream));
    if (!found)
        return remember(Status::InvalidHandle);
    return remember(found->capture ? Status::CaptureUnsupported : Status::Ok);
}

STRATA_API Result cudaStreamSynchronize(void* stream)
{
    const ApiCall call(Api::StreamSynchronize);
    call.synchronize(stream);
    const auto lock = locked();
    Machine& all = machine();
    const Status status = all.streams.synchronize(addressOf(stream));
    const int device = currentDevice();
    if (status == Status::Ok && device < all.memory.devices())
        all.memory.trimPool(device, all.memory.pool(device).releaseThreshold);
    return remember(status);
}

STRATA_API Result cudaStreamWaitEvent(void* stream, void* event, unsigned)
{
    const ApiCall call(Api::StreamWaitEvent);
    if (!event)
        return remember(Status::InvalidHandle);
    call.wait(stream, *eventOf(event));
    const auto lock = locked();
    return remember(machine().streams.wait(addressOf(stream), *eventOf(event)));
}

STRATA_API Result cudaStreamGetPriority(void* stream, int* priority)
{
    const auto lock = locked();
    const Streams::Stream* found = machine().streams.find(addressOf(stream));
    *priority = found ? found->priority : 0;
    return remember(found ? Status::Ok : Status::InvalidHandle);
}

STRATA_API Result cudaStreamGetFlags(void* stream, unsigned* flags)
{
    const auto lock = locked();
    const Streams::Stream* found = machine().streams.find(addressOf(stream));
    *flags = found ? found->flags : 0;
    return remember(found ? Status::Ok : Status::InvalidHandle);
}

STRATA_API Result cudaStreamGetId(void* stream, unsigned long long* id)
{
    *id = addressOf(stream);
    return 0;
}

STRATA_API Result cudaStreamGetDevice(void* stream, int* device)
{
    const auto lock = locked();
    const Streams::Stream* found = machine().streams.find(addressOf(stream));
    *device = found && addressOf(stream) > 2 ? found->device : currentDevice();
    return remember(found ? Status::Ok : Status::InvalidHandle);
}

STRATA_API Result cudaEventCreateWithFlags(void** out, unsigned flags)
{
    const ApiCall call(Api::EventCreateWithFlags);
    auto* event = new Event;
    event->flags = flags;
    *out = event;
    return 0;
}

STRATA_API Result cudaEventCreate(void** out)
{
    const ApiCall call(Api::EventCreate);
    return cudaEventCreateWithFlags(out, 0);
}

STRATA_API Result cudaEventDestroy(void* event)
{
    const ApiCall call(Api::EventDestroy);
    if (!event)
        return remember(Status::InvalidHandle);
    delete eventOf(event);
    return 0;
}

STRATA_API Result cudaEventRecord(void* event, void* stream)
{
    const ApiCall call(Api::EventRecord);
    if (!event)
        return remember(Status::InvalidHandle);
    call.record(*eventOf(event), stream);
    const auto lock = locked();
    return remember(machine().streams.record(*eventOf(event), addressOf(stream)));
}

STRATA_API Result cudaEventRecordWithFlags(void* event, void* stream, unsigned)
{
    const ApiCall call(Api::EventRecordWithFlags);
    return cudaEventRecord(event, stream);
}

STRATA_API Result cudaEventQuery(void* event)
{
    const ApiCall call(Api::EventQuery);
    if (!event)
        return remember(Status::InvalidHandle);
    const auto lock = locked();
    return remember(machine().streams.query(*eventOf(event)));
}

STRATA_API Result cudaEventSynchronize(void* event)
{
    const ApiCall call(Api::EventSynchronize);
    if (!event)
        return remember(Status::InvalidHandle);
    call.synchronize(*eventOf(event));
    const auto lock = locked();
    machine().streams.synchronize(*eventOf(event));
    return 0;
}

STRATA_API Result cudaEventElapsedTime(float* milliseconds, void* from, void* to)
{
    const ApiCall call(Api::EventElapsedTime);
    *milliseconds = 0;
    if (!from || !to)
        return remember(Status::InvalidHandle);
    const auto lock = locked();
    return remember(machine().streams.elapsed(*eventOf(from), *eventOf(to), *milliseconds));
}

STRATA_API Result cudaEventElapsedTime_v2(float* milliseconds, void* from, void* to)
{
    return cudaEventElapsedTime(milliseconds, from, to);
}

// An event of another process is always finished here: its work is not simulated in this one.
STRATA_API Result cudaIpcGetEventHandle(api::IpcHandle* handle, void* event)
{
    std::memset(handle, 0, sizeof *handle);
    return remember(event ? Status::Ok : Status::InvalidHandle);
}

STRATA_API Result cudaIpcOpenEventHandle(void** out, api::IpcHandle)
{
    return cudaEventCreateWithFlags(out, 0);
}

STRATA_API Result cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data)
{
    const ApiCall call(Api::LaunchHostFunc);
    Streams& streams = machine().streams;
    if (streams.anyCapture()) {
        const auto lock = locked();
        if (streams.append(addressOf(stream), NodeType::Host, [=] { function(data); }))
            return 0;
    }
    function(data);
    return 0;
}

STRATA_API Result cudaStreamAddCallback(
    void* stream, void (*function)(void*, Result, void*), void* data, unsigned)
{
    if (machine().streams.anyCapture()) {
        const auto lock = locked();
        if (machine().streams.capture(addressOf(stream)))
            return remember(Status::CaptureUnsupported);
    }
    function(stream, 0, data);
    return 0;
}

} // namespace strata::simgpu
