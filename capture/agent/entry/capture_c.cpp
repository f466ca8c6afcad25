// SPDX-License-Identifier: Apache-2.0
#include "strata/capture_c.h"

#include "capture/agent/agent.h"
#include "capture/agent/agent_files.h"
#include "capture/agent/entry/fatal_ends.h"
#include "capture/agent/entry/hook_process.h"
#include "capture/agent/entry/process_agent.h"
#include "capture/agent/process_facts.h"
#include "capture/agent/say.h"
#include "capture/agent/torch_library.h"
#include "capture/cupti/activity.h"
#include "capture/hook_maker/hook_cache.h"
#include "capture/interpose/device_asked.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
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

/// Of a recording that waits: the program may say what it does before it allocates.
struct Early {
    wire::AnnotationKind kind;
    std::int64_t timeNs;
    std::uint32_t thread;
    std::string name;
};
constexpr std::size_t kMostEarly = 100'000;

/// How long a thread may wait for another one that begins the recording. It holds no lock of the allocator,
/// but the program may hold others: none of ours lasts for ever.
constexpr std::chrono::seconds kPatience{ 30 };

/// The one recording of this process: C functions have nowhere else to keep it. Never destroyed, since
/// LibTorch keeps calling.
struct Process {
    /// Of all that is not atomic. Never taken under a lock of the allocator: who comes there while nothing is
    /// recorded yet asked for the device before, and began the recording or waited for whom did.
    std::timed_mutex mutex;
    std::optional<agent::AgentOptions> waiting;
    std::string file; ///< that it is to have, or has
    const hook::Hook* hook = nullptr;
    hook::TorchFiles torch;
    bool hookIsMade = false; ///< by a thread of ours, which then begins
    bool aside = false; ///< ... while the program goes on
    std::atomic<bool> isWaiting{ false }; ///< until it is recorded, or will not be
    bool followsCalls = false; ///< of LibTorch for the device
    std::atomic<bool> fromTheFirst{ false }; ///< it waits, and no thread may allocate before it has begun
    std::atomic<agent::Agent*> agent{ nullptr };
    std::atomic<bool> pythonTrusted{ false }, localsTrusted{ false };
    bool endsWatched = false;
    bool stopsBeforeTorch = false;
    std::atomic<pid_t> number{ 0 }; ///< of the process that is recorded
    agent::TensorTable tensors;
    agent::ModuleTable modules;
    std::mutex earlyMutex; // of the next; the last that is taken
    std::vector<Early> early;
};

thread_local bool t_begins = false; // LibTorch asks for the device then too
struct Beginning {
    Beginning() { t_begins = true; }
    ~Beginning() { t_begins = false; }
    Beginning(const Beginning&) = delete;
    Beginning& operator=(const Beginning&) = delete;
};

void beforeFork();
void behindFork();
void inChild();

Process& process()
{
    static Process* const one = [] {
        pthread_atfork(beforeFork, behindFork, inChild);
        return new Process;
    }();
    return *one;
}

/// The child goes on with the tables: nobody may be amid a change of them.
void beforeFork()
{
    process().tensors.lock();
    process().modules.lock();
}

void behindFork()
{
    process().modules.unlock();
    process().tensors.unlock();
}

void inChild()
{
    behindFork();
    Process& self = process();
    // Of the parent's threads the one that forked is left: nobody holds the mutex, nobody makes a hook.
    new (&self.mutex) std::timed_mutex;
    new (&self.earlyMutex) std::mutex;
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

/// Under the mutex.
void noLongerWaiting(Process& self)
{
    self.waiting.reset();
    self.fromTheFirst.store(false);
    const std::lock_guard early(self.earlyMutex);
    self.early.clear();
    self.isWaiting.store(false);
}

void giveUp(Process& self, const std::string& why)
{
    say(why);
    noLongerWaiting(self);
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

void flushAtEnd(int signal) noexcept
{
    if (agent::Agent* agent = process().agent.load(std::memory_order_acquire))
        agent->flushAtEnd(signal);
}

void stopAtExit()
{
    std::atexit(strata_capture_stop);
    std::at_quick_exit(strata_capture_stop);
}

void watchEnds(Process& self)
{
    if (std::exchange(self.endsWatched, true))
        return;
    self.number.store(getpid());
    stopAtExit();
    agent::watchFatalEnds(flushAtEnd);
}

/// What was registered last is called first: once all is made that LibTorch makes when it is first asked, as
/// the registry of its kernels that a check of errors looks at, it is still there when the recording ends.
void stopBeforeTorch(Process& self)
{
    if (!std::exchange(self.stopsBeforeTorch, true))
        stopAtExit();
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
    self.fromTheFirst.store(false);
    watchEnds(self);
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

/// What the program said before there was a recording.
void handEarlyOver(Process& self, agent::Agent& agent)
{
    const std::lock_guard early(self.earlyMutex);
    for (const Early& each : self.early)
        agent.annotate(each.kind, each.name, each.timeNs, each.thread);
    self.early.clear();
}

/// Under the mutex. Nothing while LibTorch is not loaded, has no hook, or its allocator is not ready.
void begin(Process& self)
{
    const Beginning beginning;
    if (!self.waiting || !findHook(self))
        return;
    const char* refusal = "";
    const hook::Readiness readiness = self.hook->readiness(&refusal);
    if (readiness == hook::Readiness::NotYet)
        return;
    // Another thread may be making the allocators of the devices at this moment, one by one.
    if (self.fromTheFirst.load())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (const char* off = std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING"); off && *off && *off != '0')
        say("PYTORCH_NO_CUDA_MEMORY_CACHING is set: LibTorch then tells of no event; unset it to record");
    watchEnds(self);
    agent::Agent* agent = self.agent.load();
    if (!agent) {
        agent = new agent::Agent(*self.hook, agent::deviceCount());
        agent->readDriverBy(driverReader());
        agent->findLocksBy(agent::findAllocatorLocks);
        if (self.pythonTrusted.load())
            agent->trustPython();
        if (self.localsTrusted.load())
            agent->trustPythonLocals();
        agent->nameModulesBy(&self.modules);
        self.agent.store(agent, std::memory_order_release);
    }
    agent::AgentOptions options = *self.waiting;
    options.fromTheFirst = self.fromTheFirst.load();
    self.waiting.reset();
    std::vector<wire::KeyValue> facts = agent::processFacts(self.torch, *self.hook);
    if (readiness == hook::Readiness::Ready)
        (void)agent->start(options, std::move(facts));
    else if (agent->startTotals(options, std::move(facts), refusal))
        say("only the driver's totals are recorded: " + std::string(refusal));
    else
        say("nothing is recorded: " + std::string(refusal));
    agent->list(self.tensors.standing());
    stopBeforeTorch(self);
    handEarlyOver(self, *agent);
    noLongerWaiting(self);
}

template <class Function> int guarded(Function&& function) noexcept
{
    agent::guarded(function);
    return stateOf(process());
}

std::optional<agent::LiveOptions> liveOptions(const strata_capture_options& options)
{
    if (options.live == 0)
        return std::nullopt;
    agent::LiveOptions live;
    if (options.live_memory != 0)
        live.memory = options.live_memory;
    if ((options.live_port & STRATA_CAPTURE_TCP) != 0)
        live.port = static_cast<std::uint16_t>(options.live_port & 0xffffu);
    if (const char* token = std::getenv("STRATA_TOKEN"))
        live.token = token;
    return live;
}

/// Under the mutex. LibTorch may be loaded later than we are.
void followDeviceCalls(Process& self)
{
    if (self.waiting && !self.followsCalls)
        self.followsCalls = interpose::followDeviceCalls();
}

/// Under the mutex: the program and the command line both want a recording of this process. The first has it.
void sayWhoRecords(Process& self, const agent::AgentOptions& wanted, bool fromOutside)
{
    const agent::Agent* const agent = self.agent.load();
    const bool begun = agent && agent->isRecording();
    const std::string file = begun ? agent->recordingName() : self.file;
    const std::string where = file.empty() ? "for those who look on" : "into " + file;
    if (fromOutside) { // the command line tells of that one
        say("the program records itself, " + where);
        return file.empty() ? void() : agent::addToList(wanted, file);
    }
    say(agent::fileOf(wanted) + ": is not begun: this process is recorded already, " + where);
}

} // namespace

strata::agent::Agent* strata::agent::agentOfProcess() noexcept
{
    return process().agent.load(std::memory_order_acquire);
}

strata::agent::TensorTable& strata::agent::tensorsOfProcess()
{
    return process().tensors;
}

strata::agent::ModuleTable& strata::agent::modulesOfProcess()
{
    return process().modules;
}

int strata_capture_start(const strata_capture_options* given)
{
    return guarded([&] {
        Process& self = process();
        // As this thread begins a recording, LibTorch asks for the device, at which the command line begins
        // its.
        std::unique_lock lock(self.mutex, std::defer_lock);
        if (!t_begins)
            lock.lock();
        strata_capture_options options{};
        std::memcpy(&options, given, std::min<std::size_t>(given->size, sizeof options));
        agent::AgentOptions wanted;
        // The program may go elsewhere until it begins.
        wanted.file = options.file && *options.file ? std::filesystem::absolute(options.file).string() : "";
        wanted.listFile = options.list_file ? options.list_file : "";
        if (t_begins || stateOf(self) != STRATA_CAPTURE_OFF)
            return sayWhoRecords(self, wanted, options.shared != 0);
        wanted.live = liveOptions(options);
        if (wanted.file.empty() && !wanted.live)
            return say("there is no file to record to: nothing is recorded: name one");
        wanted.existing
            = static_cast<agent::Existing>(std::min<std::uint32_t>(options.existing, STRATA_CAPTURE_NUMBER));
        const std::string file = agent::fileOf(wanted);
        if (!file.empty() && options.shared == 0 && wanted.existing == agent::Existing::Refuse
            && access(file.c_str(), F_OK) == 0)
            return say(file
                + ": is there already: nothing is recorded: give another name, or have it replaced or "
                  "numbered (the option \"existing\")");
        wanted.shared = options.shared != 0;
        wanted.stacks = options.stacks == STRATA_CAPTURE_STACKS_NATIVE ? agent::StackKind::Native
            : options.stacks == STRATA_CAPTURE_STACKS_PYTHON           ? agent::StackKind::Python
            : options.stacks == STRATA_CAPTURE_STACKS_AUTO             ? agent::StackKind::PythonElseNative
                                                                       : agent::StackKind::None;
        if (options.ring_events != 0)
            wanted.ringEvents = options.ring_events;
        if (options.memory_limit != 0)
            wanted.memoryLimit = options.memory_limit;
        wanted.kernels = static_cast<agent::Kernels>(
            std::min<std::uint32_t>(options.kernels, STRATA_CAPTURE_KERNELS_SHARED));
        wanted.operators = options.operators != 0;
        wanted.simulatedDevice = options.simulated_device ? options.simulated_device : "";
        self.waiting = wanted;
        self.file = file;
        self.aside = options.aside != 0;
        self.isWaiting.store(true);
        if (wanted.kernels != agent::Kernels::Off)
            cupti::Activity::one().watch();
        begin(self);
        // From here on every thread that comes to the allocator passes strata_capture_poll() before.
        self.fromTheFirst.store(self.waiting && !self.hookIsMade);
        followDeviceCalls(self);
    });
}

int strata_capture_poll()
{
    Process& self = process();
    if (!self.isWaiting.load(std::memory_order_acquire) || t_begins)
        return stateOf(self);
    return guarded([&] {
        std::unique_lock lock(self.mutex, std::try_to_lock);
        if (!lock && self.fromTheFirst.load())
            (void)lock.try_lock_for(kPatience);
        if (!lock)
            return;
        if (!self.waiting) // one that failed as it began
            return noLongerWaiting(self);
        followDeviceCalls(self);
        begin(self);
    });
}

void strata_capture_stop()
{
    guarded([] {
        Process& self = process();
        if (self.isWaiting.load()) {
            const std::lock_guard lock(self.mutex);
            noLongerWaiting(self);
        }
        agent::Agent* const agent = self.agent.load();
        if (!agent)
            return;
        if (const std::uint64_t refused = self.tensors.refused(); refused > 0)
            agent->tell({ wire::info::kLostTensors, std::to_string(refused) });
        agent->stop();
    });
}

void strata_capture_exiting()
{
    // The child of a vfork() has all that is ours, but another number.
    if (process().number.load() == getpid())
        flushAtEnd(0);
}

void strata_capture_annotate(int kind, const char* name)
{
    if (kind < 0 || static_cast<std::size_t>(kind) >= wire::kAnnotationKinds)
        return;
    const auto what = static_cast<wire::AnnotationKind>(kind);
    const std::string_view text = name ? name : "";
    const auto annotated = [&](const agent::Agent* agent) { return agent && agent->isRecording(); };
    Process& self = process();
    strata_capture_poll();
    if (agent::Agent* agent = self.agent.load(std::memory_order_acquire); annotated(agent))
        return agent->annotate(what, text);
    if (!self.isWaiting.load())
        return;
    guarded([&] {
        const std::unique_lock early(self.earlyMutex);
        if (agent::Agent* agent = self.agent.load(std::memory_order_acquire); annotated(agent))
            agent->annotate(what, text);
        else if (self.early.size() < kMostEarly)
            self.early.push_back({ what, agent::nowNs(), agent::threadNumber(), std::string(text) });
    });
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

int strata_capture_check_local(uint64_t object)
{
    bool same = false;
    guarded([&] {
        constexpr unsigned kSmall = 18;
        agent::PythonFrames probe(kSmall, kSmall / 2);
        std::string why;
        same = process().pythonTrusted.load() && probe.recognise(why) && probe.checkLocals(object);
        if (!same)
            return;
        process().localsTrusted.store(true);
        if (agent::Agent* agent = process().agent.load())
            agent->trustPythonLocals();
    });
    return same ? 1 : 0;
}

int strata_capture_reads_python()
{
    return process().pythonTrusted.load() ? 1 : 0;
}
