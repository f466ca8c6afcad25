// SPDX-License-Identifier: Apache-2.0
// The library that `strata record` preloads. It follows calls of cudaGetDevice until LibTorch's allocator is
// ready, which is before the first segment, and loads the recorder only then: programs without LibTorch carry
// nothing but this. Whatever fails here is said once and never ends the program.
#include "capture/hook/python_start.h"
#include "capture/inject/variables.h"
#include "strata/capture_c.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>

#define STRATA_API extern "C" __attribute__((visibility("default")))

namespace strata::inject {

namespace {

std::atomic<bool> g_settled{ false }; // recording, or never will be

const char* variable(const char* name)
{
    const char* text = std::getenv(name);
    return text ? text : "";
}

/// The next definition behind ours; Python may load the CUDA runtime where only its handle finds it.
template <class Function> Function next(const char* name)
{
    if (void* found = dlsym(RTLD_NEXT, name))
        return reinterpret_cast<Function>(found);
    for (const char* library : { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0" }) {
        if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            if (void* found = dlsym(handle, name))
                return reinterpret_cast<Function>(found);
        }
    }
    return nullptr;
}

bool isPython()
{
    return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr;
}

std::uint32_t stacksWanted()
{
    const std::string_view text = variable(kStacksVariable);
    if (text == "none")
        return STRATA_CAPTURE_STACKS_NONE;
    if (text == "native")
        return STRATA_CAPTURE_STACKS_NATIVE;
    if (text == "python")
        return STRATA_CAPTURE_STACKS_PYTHON;
    return isPython() ? STRATA_CAPTURE_STACKS_AUTO : STRATA_CAPTURE_STACKS_NATIVE;
}

using Start = int (*)(const strata_capture_options*);
using Poll = int (*)();

/// The recorder, loaded for good; nullptr if that failed.
Poll load()
{
    void* agent = dlopen(variable(kAgentVariable), RTLD_NOW | RTLD_LOCAL);
    const auto start = agent ? reinterpret_cast<Start>(dlsym(agent, "strata_capture_start")) : nullptr;
    if (!start) {
        const char* error = dlerror();
        std::fprintf(stderr, "strata: %s: nothing is recorded: install Strata again\n",
            error ? error : variable(kAgentVariable));
        return nullptr;
    }
    strata_capture_options options{};
    options.size = sizeof options;
    options.file = variable(kFileVariable);
    options.shared = 1;
    options.stacks = stacksWanted();
    options.ring_events = std::strtoull(variable(kRingVariable), nullptr, 10);
    options.memory_limit = std::strtoull(variable(kMemoryVariable), nullptr, 10);
    options.list_file = variable(kListVariable);
    options.simulated_device = variable(kSimulatedVariable);
    start(&options);
    return reinterpret_cast<Poll>(dlsym(agent, "strata_capture_poll"));
}

/// Asked often and answered rarely: dlopen() of what is not loaded costs microseconds.
void recordWhenReady()
{
    static std::mutex mutex;
    static int asked = 0;
    static Poll poll = nullptr;
    const std::unique_lock lock(mutex, std::try_to_lock);
    constexpr int kAskAlways = 4096;
    if (!lock || (asked++ >= kAskAlways && asked % 64 != 0))
        return;
    if (!poll) {
        if (!*variable(kFileVariable)) {
            g_settled.store(true);
            return;
        }
        if (!dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD))
            return;
        poll = load();
    }
    if (!poll || poll() != STRATA_CAPTURE_WAITING)
        g_settled.store(true);
}

} // namespace

// LibTorch asks for the current device before it allocates, and registers its kernels while it is loaded.
STRATA_API int cudaGetDevice(int* device)
{
    static const auto real = next<int (*)(int*)>("cudaGetDevice");
    if (!g_settled.load(std::memory_order_relaxed))
        recordWhenReady();
    constexpr int kUnknownError = 999;
    return real ? real(device) : kUnknownError;
}

STRATA_API void** __cudaRegisterFatBinary(void* wrapper)
{
    static const auto real = next<void** (*)(void*)>("__cudaRegisterFatBinary");
    if (*variable(kScriptVariable) && *variable(kFileVariable))
        hook::startPython(
            { variable(kScriptVariable), "<frozen strata_record>", "the start of the recording failed" });
    return real ? real(wrapper) : nullptr;
}

} // namespace strata::inject
