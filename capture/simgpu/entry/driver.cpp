// SPDX-License-Identifier: Apache-2.0
// CUDA driver: devices, contexts, streams. Names are the plain ones, as asked by name, and the versioned
// ones, as linked.
#include "capture/simgpu/entry/driver.h"
#include "capture/simgpu/entry/activity.h"

#include <cstdio>
#include <cstring>

namespace strata::simgpu {

int deviceAttribute(int attribute, int device);

namespace {

using api::Result;

thread_local void* t_context = nullptr;
thread_local bool t_contextSet = false;

void* currentContext()
{
    return t_contextSet ? t_context : contextOf(currentDevice());
}

} // namespace

STRATA_API Result cuInit(unsigned)
{
    return result(machine().settings.devices == 0 ? Status::NoDevice : Status::Ok);
}

STRATA_API Result cuDriverGetVersion(int* version)
{
    *version = kCudaVersion;
    return 0;
}

STRATA_API Result cuDeviceGetCount(int* count)
{
    *count = machine().settings.devices;
    return 0;
}

STRATA_API Result cuDeviceGet(int* device, int ordinal)
{
    *device = ordinal;
    return result(validDevice(ordinal) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDeviceGetName(char* name, int length, int device)
{
    if (!validDevice(device) || length <= 0)
        return result(Status::InvalidDevice);
    std::snprintf(name, static_cast<std::size_t>(length), "%s", machine().settings.name.c_str());
    return 0;
}

STRATA_API Result cuDeviceGetUuid(char* uuid, int device)
{
    std::memset(uuid, 0, 16);
    std::memcpy(uuid, "strata-simgpu", 13);
    uuid[15] = static_cast<char>(device);
    return result(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDeviceGetUuid_v2(char* uuid, int device)
{
    return cuDeviceGetUuid(uuid, device);
}

STRATA_API Result cuDeviceTotalMem_v2(std::size_t* bytes, int device)
{
    *bytes = machine().settings.capacityBytes;
    return result(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDeviceGetAttribute(int* value, int attribute, int device)
{
    if (!validDevice(device))
        return result(Status::InvalidDevice);
    *value = deviceAttribute(attribute, device);
    return 0;
}

STRATA_API Result cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active)
{
    *flags = 0;
    *active = 1;
    return result(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDevicePrimaryCtxRetain(void** context, int device)
{
    *context = contextOf(device);
    return result(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDevicePrimaryCtxRelease_v2(int)
{
    return 0;
}

STRATA_API Result cuCtxGetCurrent(void** context)
{
    *context = currentContext();
    return 0;
}

STRATA_API Result cuCtxSetCurrent(void* context)
{
    t_context = context;
    t_contextSet = true;
    return 0;
}

STRATA_API Result cuCtxPushCurrent_v2(void* context)
{
    return cuCtxSetCurrent(context);
}

STRATA_API Result cuCtxPushCurrent(void* context)
{
    return cuCtxSetCurrent(context);
}

STRATA_API Result cuCtxPopCurrent_v2(void** context)
{
    if (context)
        *context = currentContext();
    t_contextSet = false;
    return 0;
}

STRATA_API Result cuCtxPopCurrent(void** context)
{
    return cuCtxPopCurrent_v2(context);
}

STRATA_API Result cuCtxGetDevice(int* device)
{
    *device = currentDevice();
    return 0;
}

STRATA_API Result cuCtxSynchronize()
{
    const ApiCall call(Api::DriverCtxSynchronize);
    call.synchronizeDevice();
    const auto lock = locked();
    machine().streams.synchronizeAll();
    return 0;
}

STRATA_API Result cuCtxGetLimit(std::size_t* value, int)
{
    *value = std::size_t{ 1 } << 20;
    return 0;
}

STRATA_API Result cuCtxSetLimit(int, std::size_t)
{
    return 0;
}

STRATA_API Result cuGetErrorString(Result status, const char** text)
{
    *text = statusText(status);
    return 0;
}

STRATA_API Result cuGetErrorName(Result status, const char** text)
{
    *text = statusName(status);
    return 0;
}

STRATA_API Result cuStreamIsCapturing(void* stream, int* status)
{
    const auto lock = locked();
    *status = machine().streams.capture(addressOf(stream)) ? 1 : 0;
    return 0;
}

STRATA_API Result cuStreamGetCtx(void*, void** context)
{
    *context = currentContext();
    return 0;
}

STRATA_API Result cuLogsRegisterCallback(void*, void*, void** handle)
{
    *handle = contextOf(0);
    return 0;
}

STRATA_API Result cuLogsUnregisterCallback(void*)
{
    return 0;
}

} // namespace strata::simgpu
