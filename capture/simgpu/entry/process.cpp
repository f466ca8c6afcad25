// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/entry/process.h"

#include "capture/simgpu/entry/activity_log.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <set>
#include <string>
#include <utility>

namespace strata::simgpu {

namespace {

thread_local int t_device = 0;
thread_local Status t_lastError = Status::Ok;
thread_local Status t_callError = Status::Ok;

std::mutex g_unservedMutex; // of the next two
std::uint8_t g_isUnserved = 0;
std::uint8_t* g_unservedFlag = nullptr; // of who asked

void lockAll()
{
    activityLog().lock(); // first: callbacks that run under it may call CUDA
    machine().mutex.lock();
    machine().kernels.lock();
}

void unlockAll()
{
    machine().kernels.unlock();
    machine().mutex.unlock();
    activityLog().unlock();
}

Machine* makeMachine()
{
    const char* text = std::getenv("STRATA_SIMGPU");
    std::vector<std::string> problems;
    auto* made = new Machine(parseSettings(text ? text : "", problems));
    for (const std::string& problem : problems)
        std::fprintf(
            stderr, "strata: simulated device: cannot read setting \"%s\": ignored\n", problem.c_str());
    return made;
}

struct Text {
    int status;
    const char* name;
    const char* text;
};

constexpr Text kTexts[] = {
    { 0, "cudaSuccess", "no error" },
    { 1, "cudaErrorInvalidValue", "invalid argument" },
    { 2, "cudaErrorMemoryAllocation", "out of memory" },
    { 100, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { 101, "cudaErrorInvalidDevice", "invalid device ordinal" },
    { 209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device" },
    { 400, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { 401, "cudaErrorIllegalState", "the operation cannot be performed in the present state" },
    { 500, "cudaErrorSymbolNotFound", "named symbol not found" },
    { 600, "cudaErrorNotReady", "device not ready" },
    { 704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled" },
    { 712, "cudaErrorHostMemoryAlreadyRegistered",
        "part or all of the requested memory range is already mapped" },
    { 713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region" },
    { 801, "cudaErrorNotSupported", "operation not supported" },
    { 900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing" },
    { 901, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture" },
    { 903, "cudaErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began" },
    { 904, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work" },
    { 907, "cudaErrorCapturedEvent",
        "operation not permitted on an event last recorded in a capturing stream" },
};

const Text* findText(int status)
{
    for (const Text& text : kTexts) {
        if (text.status == status)
            return &text;
    }
    return nullptr;
}

} // namespace

Machine& machine()
{
    static Machine* const instance = [] {
        Machine* made = makeMachine();
        pthread_atfork([] { lockAll(); }, [] { unlockAll(); },
            [] {
                activityLog().forget();
                unlockAll();
            });
        return made;
    }();
    return *instance;
}

int& currentDevice()
{
    return t_device;
}

api::Result remember(Status status)
{
    if (status != Status::Ok)
        t_lastError = t_callError = status;
    return static_cast<api::Result>(status);
}

Status callError()
{
    return t_callError;
}

void forgetCallError()
{
    t_callError = Status::Ok;
}

Status takeLastError()
{
    return std::exchange(t_lastError, Status::Ok);
}

Status peekLastError()
{
    return t_lastError;
}

void tellUnserved(std::uint8_t* flag)
{
    const std::lock_guard lock(g_unservedMutex);
    g_unservedFlag = flag;
    *flag = g_isUnserved;
}

void sayUnserved(const char* name)
{
    static auto* const said = new std::set<std::string>;
    const std::lock_guard lock(g_unservedMutex);
    g_isUnserved = 1;
    if (g_unservedFlag)
        *g_unservedFlag = 1;
    if (said->insert(name).second)
        std::fprintf(
            stderr, "strata: simulated device: %s is not served: it fails as its library would\n", name);
}

const char* statusText(int status)
{
    const Text* text = findText(status);
    return text ? text->text : "unrecognized error code";
}

const char* statusName(int status)
{
    const Text* text = findText(status);
    return text ? text->name : "cudaErrorUnknown";
}

} // namespace strata::simgpu
