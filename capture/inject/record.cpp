// SPDX-License-Identifier: Apache-2.0
#include "capture/inject/record.h"

#include "capture/inject/variables.h"
#include "strata/capture_c.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <string_view>

namespace strata::inject {

namespace {

std::atomic<bool> g_settled{ false }; // recording, or never will be

const char* variable(const char* name)
{
    const char* text = std::getenv(name);
    return text ? text : "";
}

bool isAsked()
{
    return *variable(kFileVariable) || *variable(kLiveVariable) == '1';
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

std::uint32_t kernelsWanted()
{
    const std::string_view text = variable(kKernelsVariable);
    return text == "aside" ? STRATA_CAPTURE_KERNELS_ASIDE
        : text == "shared" ? STRATA_CAPTURE_KERNELS_SHARED
                           : STRATA_CAPTURE_KERNELS_OFF;
}

using Start = int (*)(const strata_capture_options*);
using Poll = int (*)();
using Exiting = void (*)();

std::atomic<Exiting> g_exiting{ nullptr };
std::atomic<void*> g_recorder{ nullptr }; // as the loader knows it

/// The recorder, loaded for good; nullptr if that failed.
Poll load()
{
    // The program may have one of its own, from where it was installed: two would both record.
    void* agent = dlopen("libstrata_capture.so", RTLD_NOW | RTLD_NOLOAD);
    if (!agent)
        agent = dlopen(variable(kAgentVariable), RTLD_NOW | RTLD_LOCAL);
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
    options.kernels = kernelsWanted();
    options.operators = *variable(kOperatorsVariable) == '1' ? 1 : 0;
    options.aside = 1;
    options.live = *variable(kLiveVariable) == '1' ? 1 : 0;
    options.live_memory = std::strtoull(variable(kLiveMemoryVariable), nullptr, 10);
    if (const char* port = variable(kLivePortVariable); *port)
        options.live_port = static_cast<std::uint32_t>(std::strtoul(port, nullptr, 10)) | STRATA_CAPTURE_TCP;
    g_exiting.store(reinterpret_cast<Exiting>(dlsym(agent, "strata_capture_exiting")));
    start(&options);
    g_recorder.store(agent);
    return reinterpret_cast<Poll>(dlsym(agent, "strata_capture_poll"));
}

/// Asked often and answered rarely: dlopen() of what is not loaded costs microseconds.
bool isTorchLoaded()
{
    static std::atomic<int> asked{ 0 };
    constexpr int kAskAlways = 4096;
    const int before = asked.fetch_add(1, std::memory_order_relaxed);
    return (before < kAskAlways || before % 64 == 0) && dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
}

/// One thread loads the recorder, which begins the recording if it can; others that come meanwhile wait, lest
/// they allocate before. nullptr where there is none yet, or never will be.
Poll recorder()
{
    static std::atomic<Poll> poll{ nullptr };
    static std::timed_mutex loading;
    static thread_local bool loads = false; // the recorder asks for the device too
    if (const Poll loaded = poll.load(std::memory_order_acquire))
        return loaded;
    if (!isAsked())
        g_settled.store(true);
    if (loads || g_settled.load() || !isTorchLoaded())
        return nullptr;
    // The program may hold a lock that the loading thread needs: then it goes on, and its first bytes are
    // told as such.
    constexpr std::chrono::seconds kPatience{ 30 };
    const std::unique_lock lock(loading, kPatience);
    if (!lock || poll.load() || g_settled.load())
        return poll.load();
    loads = true;
    const Poll loaded = load();
    loads = false;
    poll.store(loaded, std::memory_order_release);
    if (!loaded)
        g_settled.store(true);
    return loaded;
}

void askAgain()
{
    if (const Poll poll = recorder(); poll && poll() != STRATA_CAPTURE_WAITING)
        g_settled.store(true);
}

} // namespace

void recordWhenReady() noexcept
{
    if (g_settled.load(std::memory_order_relaxed))
        return;
    try {
        askAgain();
    } catch (...) {
        g_settled.store(true); // no memory: the program goes on without a recording
    }
}

void keepBeforeExit() noexcept
{
    if (const Exiting exiting = g_exiting.load())
        exiting();
}

bool isPython()
{
    static const bool is = dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr;
    return is;
}

void* recorderFunction(const char* name)
{
    void* const recorder = g_recorder.load();
    return recorder ? dlsym(recorder, name) : nullptr;
}

std::optional<interpose::PythonScript> recordScript()
{
    if (!*variable(kScriptVariable) || !isAsked())
        return std::nullopt;
    return interpose::PythonScript{ variable(kScriptVariable), "<frozen strata_record>",
        "the start of the recording failed" };
}

} // namespace strata::inject
