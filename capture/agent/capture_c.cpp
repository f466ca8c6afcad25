// SPDX-License-Identifier: Apache-2.0
#include "strata/capture_c.h"

#include "capture/agent/agent.h"
#include "capture/agent/process_facts.h"
#include "capture/agent/say.h"
#include "capture/agent/torch_library.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <string>

namespace {

using namespace strata;
using agent::say;

/// The one recording of this process: C functions have nowhere else to keep it. Never destroyed, since
/// LibTorch keeps calling.
struct Process {
    std::mutex mutex; // of all that is not atomic; never taken under a lock of the allocator
    std::optional<agent::AgentOptions> waiting;
    const hook::Hook* hook = nullptr;
    agent::TorchLibrary torch;
    std::atomic<bool> isWaiting{ false };
    std::atomic<agent::Agent*> agent{ nullptr };
    std::atomic<bool> pythonTrusted{ false };
    bool prepared = false;
};

Process& process()
{
    static Process* const one = new Process;
    return *one;
}

void inChild()
{
    if (agent::Agent* agent = process().agent.load())
        agent->forget();
}

int stateOf(Process& self)
{
    const agent::Agent* agent = self.agent.load(std::memory_order_acquire);
    return agent && agent->isRecording() ? STRATA_CAPTURE_RECORDING
        : self.isWaiting.load()          ? STRATA_CAPTURE_WAITING
                                         : STRATA_CAPTURE_OFF;
}

void giveUp(Process& self, const std::string& why)
{
    say(why);
    self.waiting.reset();
    self.isWaiting.store(false);
}

/// NVML is loaded on the thread that asks first.
agent::ReadDriver driverReader()
{
    struct Lazy {
        std::vector<std::string> buses;
        std::optional<driver::DriverMemory> driver;
    };
    auto lazy = std::make_shared<Lazy>(Lazy{ agent::deviceBuses(), std::nullopt });
    return [lazy](int device) {
        if (!lazy->driver)
            lazy->driver.emplace(lazy->buses);
        return lazy->driver->read(device);
    };
}

/// Under the mutex. Nothing while LibTorch is not loaded or its allocator not ready.
void begin(Process& self)
{
    std::string why;
    if (!self.hook) {
        if (!agent::findTorch(self.torch))
            return;
        self.hook = agent::loadHook(self.torch, why);
        if (!self.hook)
            return giveUp(self, why);
    }
    const char* refusal = "";
    const hook::Readiness readiness = self.hook->readiness(&refusal);
    if (readiness == hook::Readiness::NotYet)
        return;
    if (const char* off = std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING"); off && *off && *off != '0')
        say("PYTORCH_NO_CUDA_MEMORY_CACHING is set: LibTorch then tells of no event; unset it to record");
    if (!self.prepared) {
        pthread_atfork(nullptr, nullptr, inChild);
        // Behind the allocator's own registration, so before the allocator ends.
        std::atexit(strata_capture_stop);
        self.prepared = true;
    }
    agent::Agent* agent = self.agent.load();
    if (!agent) {
        agent = new agent::Agent(*self.hook, agent::deviceCount());
        agent->readDriverBy(driverReader());
        if (self.pythonTrusted.load())
            agent->trustPython();
        self.agent.store(agent, std::memory_order_release);
    }
    const agent::AgentOptions options = *self.waiting;
    self.waiting.reset();
    self.isWaiting.store(false);
    std::vector<wire::KeyValue> facts = agent::processFacts(self.torch, *self.hook);
    if (readiness == hook::Readiness::Ready)
        (void)agent->start(options, std::move(facts));
    else if (agent->startTotals(options, std::move(facts), refusal))
        say("only the driver's totals are recorded: " + std::string(refusal));
    else
        say("nothing is recorded: " + std::string(refusal));
}

template <class Function> int guarded(Function&& function) noexcept
{
    try {
        function();
    } catch (const std::exception& error) {
        try {
            say(std::string("recording: ") + error.what() + ": the program goes on without it");
        } catch (...) {
            // Not even memory for the message.
        }
    } catch (...) {
        // Cannot be told what: the program goes on.
    }
    return stateOf(process());
}

} // namespace

int strata_capture_start(const strata_capture_options* given)
{
    return guarded([&] {
        Process& self = process();
        const std::lock_guard lock(self.mutex);
        strata_capture_options options{};
        std::memcpy(&options, given, std::min<std::size_t>(given->size, sizeof options));
        if (stateOf(self) != STRATA_CAPTURE_OFF) {
            say(std::string(options.file ? options.file : "")
                + ": a recording is on already: stop it before another begins");
            return;
        }
        agent::AgentOptions wanted;
        wanted.file = options.file ? options.file : "";
        wanted.shared = options.shared != 0;
        wanted.stacks = options.stacks == STRATA_CAPTURE_STACKS_NATIVE ? agent::StackKind::Native
            : options.stacks == STRATA_CAPTURE_STACKS_PYTHON           ? agent::StackKind::Python
            : options.stacks == STRATA_CAPTURE_STACKS_AUTO             ? agent::StackKind::PythonElseNative
                                                                       : agent::StackKind::None;
        if (options.ring_events != 0)
            wanted.ringEvents = options.ring_events;
        if (options.memory_limit != 0)
            wanted.memoryLimit = options.memory_limit;
        wanted.listFile = options.list_file ? options.list_file : "";
        wanted.simulatedDevice = options.simulated_device ? options.simulated_device : "";
        self.waiting = wanted;
        self.isWaiting.store(true);
        begin(self);
    });
}

int strata_capture_poll()
{
    Process& self = process();
    if (!self.isWaiting.load(std::memory_order_relaxed))
        return stateOf(self);
    return guarded([&] {
        const std::unique_lock lock(self.mutex, std::try_to_lock);
        if (lock && self.waiting)
            begin(self);
    });
}

void strata_capture_stop()
{
    guarded([] {
        if (agent::Agent* agent = process().agent.load())
            agent->stop();
    });
}

void strata_capture_annotate(int kind, const char* name)
{
    strata_capture_poll();
    agent::Agent* agent = process().agent.load(std::memory_order_acquire);
    if (agent && kind >= STRATA_CAPTURE_BEGIN && kind <= STRATA_CAPTURE_MARK)
        agent->annotate(static_cast<std::uint8_t>(kind), name ? name : "");
}

int strata_capture_check_python(const char* frames)
{
    bool same = false;
    guarded([&] {
        constexpr unsigned kSmall = 18;
        agent::PythonFrames probe(kSmall, kSmall / 2);
        std::string why;
        if (!probe.recognise(why))
            return; // said when a recording asks for them
        same = probe.check(frames);
        if (!same) {
            say("stacks of Python are not recorded: this interpreter's frames are not where they are looked "
                "for");
            return;
        }
        process().pythonTrusted.store(true);
        if (agent::Agent* agent = process().agent.load())
            agent->trustPython();
    });
    return same ? 1 : 0;
}

int strata_capture_reads_python()
{
    return process().pythonTrusted.load() ? 1 : 0;
}
