// SPDX-License-Identifier: Apache-2.0
#include "strata/capture_c.h"

#include "capture/agent/agent.h"
#include "capture/agent/hook_process.h"
#include "capture/agent/process_facts.h"
#include "capture/agent/say.h"
#include "capture/agent/torch_library.h"
#include "capture/hook_maker/hook_cache.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <string>
#include <thread>
#include <utility>

namespace {

using namespace strata;
using agent::say;

// The C interface has the codes of the stream.
constexpr bool isCode(strata_capture_kind kind, wire::AnnotationKind code)
{
    return static_cast<int>(kind) == static_cast<int>(code);
}
static_assert(isCode(STRATA_CAPTURE_BEGIN, wire::AnnotationKind::Start)
    && isCode(STRATA_CAPTURE_END, wire::AnnotationKind::End)
    && isCode(STRATA_CAPTURE_MARK, wire::AnnotationKind::Mark));

/// The one recording of this process: C functions have nowhere else to keep it. Never destroyed, since
/// LibTorch keeps calling.
struct Process {
    std::mutex mutex; // of all that is not atomic; never taken under a lock of the allocator
    std::optional<agent::AgentOptions> waiting;
    const hook::Hook* hook = nullptr;
    hook::TorchFiles torch;
    bool hookIsMade = false; ///< by a thread of ours, which then begins
    bool aside = false; ///< ... while the program goes on
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
    Process& self = process();
    // Of the parent's threads the one that forked is left: nobody holds the mutex, nobody makes a hook.
    new (&self.mutex) std::mutex;
    self.hookIsMade = false;
    if (agent::Agent* agent = self.agent.load())
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

void watchEnds()
{
    pthread_atfork(nullptr, nullptr, inChild);
    // Behind the allocator's own registration, so before the allocator ends.
    std::atexit(strata_capture_stop);
}

void loadHook(Process& self, const std::string& path)
{
    std::string why;
    self.hook = agent::loadHook(path, why);
    if (!self.hook)
        giveUp(self, "torch " + self.torch.version + ": nothing is recorded: " + why);
}

/// Under the mutex: what became of the hook.
void takeHook(Process& self, const agent::HookProcess::Answer& answer)
{
    if (answer.done)
        loadHook(self, answer.text);
    else
        giveUp(self, "torch " + self.torch.version + ": nothing is recorded: no hook for it: " + answer.text);
}

void begin(Process& self);
template <class Function> int guarded(Function&& function) noexcept;

/// By a program of its own: a compiler has no place in somebody else's.
void makeHook(Process& self)
{
    agent::HookProcess maker(agent::libraryFolder() + "/strata-hook", self.torch.folder.string());
    const std::string what
        = "torch " + self.torch.version + ": its hook is compiled, once, in about ten seconds";
    if (!self.aside) {
        say(what);
        return takeHook(self, maker.run());
    }
    say(what + ": the recording begins then, with the state at that moment");
    self.hookIsMade = true;
    watchEnds();
    // Signals are for threads of the program.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([maker = std::move(maker)]() mutable {
        const auto answer = maker.run();
        guarded([&] {
            Process& made = process();
            const std::lock_guard lock(made.mutex);
            made.hookIsMade = false;
            if (made.waiting)
                takeHook(made, answer);
            if (made.hook)
                begin(made);
        });
    }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// Under the mutex: False while there is none.
bool findHook(Process& self)
{
    if (self.hook)
        return true;
    if (self.hookIsMade || !agent::findTorch(self.torch))
        return false;
    const auto found = hook::findHook(self.torch, agent::libraryFolder());
    if (found.empty())
        makeHook(self);
    else
        loadHook(self, found.string());
    return self.hook != nullptr;
}

/// Under the mutex. Nothing while LibTorch is not loaded, has no hook, or its allocator is not ready.
void begin(Process& self)
{
    if (!self.waiting || !findHook(self))
        return;
    const char* refusal = "";
    const hook::Readiness readiness = self.hook->readiness(&refusal);
    if (readiness == hook::Readiness::NotYet)
        return;
    if (const char* off = std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING"); off && *off && *off != '0')
        say("PYTORCH_NO_CUDA_MEMORY_CACHING is set: LibTorch then tells of no event; unset it to record");
    if (!std::exchange(self.prepared, true))
        watchEnds();
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
        self.aside = options.aside != 0;
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
        Process& self = process();
        if (self.isWaiting.load()) {
            const std::lock_guard lock(self.mutex);
            self.waiting.reset();
            self.isWaiting.store(false);
        }
        if (agent::Agent* agent = self.agent.load())
            agent->stop();
    });
}

void strata_capture_annotate(int kind, const char* name)
{
    strata_capture_poll();
    agent::Agent* agent = process().agent.load(std::memory_order_acquire);
    if (agent && kind >= 0 && static_cast<std::size_t>(kind) < wire::kAnnotationKinds)
        agent->annotate(static_cast<wire::AnnotationKind>(kind), name ? name : "");
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
