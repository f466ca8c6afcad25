// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/agent.h"

#include "capture/agent/agent_files.h"
#include "capture/agent/process_facts.h"
#include "capture/agent/program/texts.h"
#include "capture/agent/say.h"
#include "capture/agent/thread_table.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <pthread.h>
#include <utility>

namespace strata::agent {

namespace {

Agent* g_agent = nullptr; // that hooks call: set before one is attached

constexpr std::uint8_t kAlloc = static_cast<std::uint8_t>(wire::EventAction::Alloc);
constexpr std::uint8_t kFreeRequested = static_cast<std::uint8_t>(wire::EventAction::FreeRequested);
constexpr std::uint8_t kFreeCompleted = static_cast<std::uint8_t>(wire::EventAction::FreeCompleted);
constexpr std::uint8_t kSnapshot = static_cast<std::uint8_t>(wire::EventAction::Snapshot);

void entryCallback(const hook::Entry& entry) noexcept
{
    g_agent->onEntry(entry);
}
void outOfMemoryCallback(std::int32_t device, std::int64_t bytes) noexcept
{
    g_agent->onOutOfMemory(device, bytes);
}
void rangeCallback(bool begins, const char* name) noexcept
{
    g_agent->annotate(begins ? wire::AnnotationKind::Start : wire::AnnotationKind::End, name ? name : "");
}

int callBegins(const hook::Call& call) noexcept
{
    return g_agent->onCallBegins(call);
}
void callEnds(int token, bool done) noexcept
{
    g_agent->onCallEnds(token, done);
}
void operatorRan(const hook::OperatorSpan& span) noexcept
{
    g_agent->onOperator(span);
}
void onLock(pthread_mutex_t* mutex) noexcept
{
    g_agent->onLock(mutex);
}

std::uint64_t self() noexcept
{
    return static_cast<std::uint64_t>(pthread_self());
}

void addSegment(void* context, const hook::Segment& segment) noexcept
{
    auto& state = *static_cast<TakenState*>(context);
    state.segments.push_back(segment);
    state.blockCounts.push_back(0);
}
void addBlock(void* context, const hook::Block& block) noexcept
{
    auto& state = *static_cast<TakenState*>(context);
    state.blocks.push_back(block);
    ++state.blockCounts.back();
}
void addSetting(void* context, const char* key, const char* json) noexcept
{
    static_cast<TakenState*>(context)->settings.emplace_back(key, json);
}

void addHost(void* context, const hook::HostMemory& host) noexcept
{
    static_cast<TakenState*>(context)->host = host;
}

} // namespace

Agent::Agent(const hook::Hook& hook, int deviceCount)
    : m_hook(hook)
    , m_deviceCount(deviceCount)
{
}

bool Agent::prepare(const AgentOptions& options)
{
    if (!m_stacks) {
        const std::uint64_t half = options.memoryLimit / 2;
        m_stacks = std::make_unique<Stacks>(half - half / 8);
        m_texts = std::make_unique<SequenceTable>(
            static_cast<unsigned>(std::clamp<int>(static_cast<int>(std::bit_width(half / 128)), 12, 24)), 14);
        const auto devices = static_cast<std::uint64_t>(std::max(m_deviceCount, 1));
        const std::uint64_t most
            = std::bit_floor(std::max<std::uint64_t>(half / devices / sizeof(EventRecord), 64));
        const std::uint64_t events
            = std::min(std::bit_ceil(std::max<std::uint64_t>(options.ringEvents, 64)), most);
        for (int i = 0; i < m_deviceCount; ++i)
            m_devices.push_back(std::make_unique<Device>(static_cast<unsigned>(std::countr_zero(events))));
    }
    const bool usable = m_stacks->usable() && m_texts->usable()
        && std::all_of(m_devices.begin(), m_devices.end(), [](const auto& d) { return d->ring.usable(); });
    if (!usable)
        say("the system gives no memory for a recording: nothing is recorded, the program goes on");
    return usable;
}

bool Agent::start(const AgentOptions& options, std::vector<wire::KeyValue> facts)
{
    const std::lock_guard control(m_control);
    if (isRecording() || m_forked || !prepare(options))
        return false;
    if (m_hook.isTorchRecording())
        facts.emplace_back(wire::info::kTorchRecorder, wire::info::kYes);
    std::unique_ptr<wire::ChunkSink> sink = createSink(options, facts);
    if (!sink)
        return false;
    std::string why;
    m_stacks->use(options.stacks, m_hook.unwind, why);
    if (!why.empty())
        say(why);
    if (m_pythonTrusted.load(std::memory_order_acquire))
        m_stacks->python().trust();
    if (m_localsTrusted.load(std::memory_order_acquire))
        m_stacks->python().trustLocals();
    if (m_hook.isTorchRecording())
        say("torch's own recorder is on too: it is left as it is, and finds marks of snapshots in its trace");
    m_simulatedDevice = options.simulatedDevice;
    Recorder* const recorder = &makeRecorder(std::move(sink), std::move(facts), true);
    g_agent = this;
    if (!m_attached) {
        if (!m_hook.attach({ entryCallback, outOfMemoryCallback, rangeCallback, callBegins, callEnds })) {
            say(recorder->name() + ": LibTorch does not let itself be followed: nothing is recorded");
            m_ended.pop_back(); // nobody has it yet, and nobody is to look on
            return false;
        }
        followCalls();
    }
    m_attached = true;
    for (const auto& device : m_devices)
        device->fractionKnown.store(false);
    tellFractions(*recorder);
    recorder->tell(
        { wire::info::kAllocatorCalls, m_callsMissing.empty() ? wire::info::kYes : m_callsMissing });
    m_recorder.store(recorder, std::memory_order_release);
    recorder->start();
    if (!takeState(StatePurpose::Base))
        say(recorder->name() + ": LibTorch gives no snapshot: nothing is recorded");
    if (m_hook.tellsPhases)
        recorder->tell(
            { wire::info::kPhases, m_hook.tellsPhases() ? wire::info::kYes : "this LibTorch does not tell" });
    recordKernels(*recorder, options);
    if (options.fromTheFirst && m_bytesBefore > 0)
        say(recorder->name() + ": the program had reserved " + std::to_string(m_bytesBefore >> 20)
            + " MiB before the recording could begin: that is recorded without stacks");
    return true;
}

/// A device is known: the allocator is ready.
void Agent::recordKernels(Recorder& recorder, const AgentOptions& options)
{
    if (options.kernels == Kernels::Off)
        return;
    std::string why;
    cupti::Activity& activity = cupti::Activity::one();
    const cupti::Library* const library = cupti::findLibrary(why);
    if (library)
        why = activity.begin(*library, { m_hook.counter, options.kernels == Kernels::Shared });
    if (why.empty())
        recorder.recordWork(*library, activity, recordOperators(recorder, options));
    else
        say(recorder.name() + ": no kernels are recorded: " + why);
    recorder.tell({ wire::info::kKernels, why.empty() ? wire::info::kYes : why });
}

OperatorLog* Agent::recordOperators(Recorder& recorder, const AgentOptions& options)
{
    if (!options.operators)
        return nullptr;
    m_operators.open();
    const bool isFollowed = m_hook.followOperators(operatorRan);
    constexpr const char* kWhyNot = "this LibTorch lets nobody watch its operators";
    recorder.tell({ wire::info::kOperators, isFollowed ? wire::info::kYes : kWhyNot });
    if (isFollowed)
        return &m_operators;
    m_operators.close();
    say(recorder.name() + ": no operators are recorded: " + kWhyNot);
    return nullptr;
}

bool Agent::startTotals(
    const AgentOptions& options, std::vector<wire::KeyValue> facts, const std::string& refusal)
{
    const std::lock_guard control(m_control);
    const auto canRead = [&] {
        for (int device = 0; device < m_deviceCount; ++device)
            if (m_readDriver(device))
                return true;
        return false;
    };
    if (isRecording() || m_forked || !m_readDriver || !canRead() || !prepare(options))
        return false;
    facts.emplace_back(wire::info::kRefused, refusal);
    std::unique_ptr<wire::ChunkSink> sink = createSink(options, facts);
    if (!sink)
        return false;
    Recorder& recorder = makeRecorder(std::move(sink), std::move(facts), false);
    m_recorder.store(&recorder, std::memory_order_release);
    recorder.start();
    return true;
}

void Agent::followCalls()
{
    m_callsMissing = "nobody finds the locks of this allocator";
    if (m_findLocks)
        m_callsMissing = m_calls.follow(m_hook, m_deviceCount, m_findLocks, agent::onLock);
}

Recorder& Agent::makeRecorder(
    std::unique_ptr<wire::ChunkSink> sink, std::vector<wire::KeyValue> facts, bool followed)
{
    m_followed = followed;
    Recorder::Options options;
    options.readDriver = m_readDriver;
    options.modules = m_modules;
    options.totalsOf = followed ? 0 : static_cast<std::size_t>(std::max(m_deviceCount, 0));
    m_ended.emplace_back(new Recorder(std::move(sink), std::move(facts), followed ? m_devices : m_noDevices,
        *m_stacks, *m_texts, m_hook.counter, std::move(options)));
    return *m_ended.back();
}

bool Agent::takeState(StatePurpose purpose)
{
    TakenState state;
    state.number = m_stateNumber.load(std::memory_order_relaxed) + 1;
    state.purpose = purpose;
    m_stateNumber.store(state.number, std::memory_order_relaxed);
    m_statePurpose.store(purpose, std::memory_order_relaxed);
    m_devicesSeen = 0;
    m_snapshotThread.store(self(), std::memory_order_relaxed);
    if (purpose != StatePurpose::Base)
        tellFractions(*m_recorder.load(std::memory_order_relaxed));
    const bool taken = m_hook.snapshot({ &state, addSegment, addBlock, addSetting, addHost });
    m_snapshotThread.store(0, std::memory_order_relaxed);
    if (purpose == StatePurpose::Base)
        m_bytesBefore = std::transform_reduce(state.segments.begin(), state.segments.end(), std::int64_t{ 0 },
            std::plus<>(), [](const hook::Segment& segment) { return segment.bytes; });
    if (!m_simulatedDevice.empty())
        state.settings.emplace_back(wire::settings::kSimulatedDevice, m_simulatedDevice);
    if (taken)
        m_recorder.load(std::memory_order_relaxed)->add(std::move(state));
    return taken;
}

void Agent::forget() noexcept
{
    m_forked.store(true, std::memory_order_relaxed);
    m_operators.close();
    m_deep.forget();
    cupti::Activity::one().forget();
    if (Recorder* const recorder = m_recorder.load(std::memory_order_acquire))
        recorder->forget();
}

bool Agent::beginDeepStep()
{
    const std::lock_guard control(m_control);
    Recorder* const recorder = m_recorder.load(std::memory_order_relaxed);
    if (!recorder || !m_followed || m_forked.load(std::memory_order_relaxed) || m_deep.isOpen()
        || std::exchange(m_hadDeepStep, true))
        return false;
    recorder->writeDeepStepsOf(m_deep.log(), m_deep.calls());
    return m_deep.begin();
}

std::set<std::int32_t> Agent::devicesOf(std::span<const void* const> tensors) const
{
    std::set<std::int32_t> devices;
    for (const void* const tensor : tensors)
        if (hook::DeepTensor seen; m_hook.lookDeep && m_hook.lookDeep(tensor, false, &seen))
            devices.insert(seen.device);
    return devices;
}

void Agent::stop()
{
    if (m_forked.load(std::memory_order_relaxed))
        return;
    const std::lock_guard control(m_control);
    Recorder* recorder = m_recorder.load(std::memory_order_relaxed);
    if (!recorder)
        return;
    if (m_deep.isOpen())
        m_deep.end("the recording ended before the step did: let the program make more of them");
    m_hadDeepStep = false;
    if (m_operators.isOpen())
        m_hook.endOperators();
    if (m_followed) {
        if (m_hook.isTorchRecording())
            recorder->tell({ wire::info::kTorchRecorder, wire::info::kYes });
        takeState(StatePurpose::End);
    }
    if (const std::uint64_t refused = m_stacks->refused() + m_texts->refused(); refused > 0)
        recorder->tell({ wire::info::kLostStacks, std::to_string(refused) });
    m_operators.close();
    recorder->finish();
    m_recorder.store(nullptr, std::memory_order_release);
    if (recorder->lost() > 0)
        say(recorder->name() + ": " + std::to_string(recorder->lost())
            + " events did not fit the ring and are missing: record with a larger one (--ring)");
}

std::string Agent::recordingName() const
{
    const Recorder* const recorder = m_recorder.load(std::memory_order_acquire);
    return recorder ? recorder->name() : std::string();
}

void Agent::flushAtEnd(int signal) noexcept
{
    constexpr int kPatienceMs = 500;
    Recorder* const recorder = m_recorder.load(std::memory_order_acquire);
    if (recorder && !m_forked.load(std::memory_order_relaxed))
        recorder->flushAtEnd(signal, kPatienceMs);
}

void Agent::annotate(wire::AnnotationKind kind, std::string_view name) noexcept
{
    if (isRecording())
        annotate(kind, name, nowNs(), threadNumber());
}

void Agent::annotate(
    wire::AnnotationKind kind, std::string_view name, std::int64_t timeNs, std::uint32_t thread) noexcept
{
    if (m_forked.load(std::memory_order_relaxed))
        return;
    try {
        if (Recorder* recorder = m_recorder.load(std::memory_order_acquire))
            recorder->annotate(kind, name, timeNs, thread);
    } catch (...) {
        // No memory for a name: the program goes on without it.
    }
}

void Agent::list(std::span<const PlacedTensor> tensors)
{
    Recorder* const recorder = m_recorder.load(std::memory_order_acquire);
    if (!recorder || m_forked.load(std::memory_order_relaxed))
        return;
    std::vector<ListedTensor> listed;
    listed.reserve(tensors.size());
    for (const PlacedTensor& each : tensors) {
        const std::int32_t device = each.tensor->device;
        if (device >= 0 && device < std::ssize(m_devices))
            listed.push_back({ each.tensor, each.address,
                m_devices[static_cast<std::size_t>(device)]->events.load(std::memory_order_acquire) });
    }
    recorder->list(std::move(listed));
}

void Agent::tell(wire::KeyValue item)
{
    if (Recorder* recorder = m_recorder.load(std::memory_order_acquire); recorder && !m_forked)
        recorder->tell(std::move(item));
}

void Agent::trustPython() noexcept
{
    m_pythonTrusted.store(true, std::memory_order_release);
    const std::lock_guard control(m_control);
    if (m_stacks)
        m_stacks->python().trust();
}

void Agent::trustPythonLocals() noexcept
{
    m_localsTrusted.store(true, std::memory_order_release);
    const std::lock_guard control(m_control);
    if (m_stacks)
        m_stacks->python().trustLocals();
}

void Agent::onSnapshot() noexcept
{
    // Entries of a snapshot do not say their device, but come in the order of devices.
    const std::size_t index = m_devicesSeen++;
    if (index >= m_devices.size())
        return;
    Device& device = *m_devices[index];
    if (EventRecord* const record = device.ring.reserve(true)) {
        *record = {};
        record->action = EventRecord::kCut;
        record->bytes = m_stateNumber.load(std::memory_order_relaxed);
        device.ring.commit();
    }
    const StatePurpose purpose = m_statePurpose.load(std::memory_order_relaxed);
    if (purpose == StatePurpose::Base) {
        device.open = true;
        device.events.store(0, std::memory_order_release);
    } else if (purpose == StatePurpose::End)
        device.open = false;
}

void Agent::takeStack(Device& device, const hook::Entry& entry, EventRecord& record) noexcept
{
    if (entry.action == kFreeCompleted) {
        // Mostly the end of the same call; a free that waited for a stream has no stack of its own.
        if (entry.address == device.requestedAddress) {
            record.stack = device.requestedStack;
            record.stackKind = device.requestedKind;
        }
        device.requestedAddress = 0;
        return;
    }
    const Stacks::Taken taken = entry.action == kAlloc
        ? m_stacks->gatherWithModule(entry.phase, m_hook.autogradNode)
        : m_stacks->gather();
    record.stackKind = static_cast<std::uint8_t>(taken.kind);
    record.stack = taken.number;
    if (entry.action == kFreeRequested) {
        device.requestedAddress = entry.address;
        device.requestedStack = record.stack;
        device.requestedKind = record.stackKind;
    }
}

void Agent::onEntry(const hook::Entry& entry) noexcept
{
    if (m_forked.load(std::memory_order_relaxed))
        return;
    if (entry.action == kSnapshot && m_snapshotThread.load(std::memory_order_relaxed) == self()) {
        onSnapshot();
        return;
    }
    if (entry.device < 0 || entry.device >= m_deviceCount)
        return;
    Device& device = *m_devices[static_cast<std::size_t>(entry.device)];
    const Recorder* recorder = m_recorder.load(std::memory_order_relaxed);
    if (!device.open || !recorder || !recorder->isWriting())
        return;
    EventRecord* const place = device.ring.reserve();
    if (!place)
        return;
    EventRecord& record = *place;
    record.address = entry.address;
    record.bytes = entry.bytes;
    record.stream = entry.stream;
    record.counter = entry.counter;
    record.poolOwner = entry.poolOwner;
    record.poolId = static_cast<std::uint32_t>(entry.poolId);
    record.stack = 0;
    record.userMetadata = 0;
    record.compileContext = 0;
    record.internalMetadata = 0;
    record.action = entry.action;
    record.stackKind = 0;
    record.hasPool = entry.hasPool;
    record.phase = entry.phase & 7U;
    record.thread = ThreadTable::mine();
    if (entry.compileContext.bytes + entry.userMetadata.bytes + entry.internalMetadata.bytes > 0) {
        const auto text = [&](const hook::Text& from) {
            return internText(*m_texts, { from.data, static_cast<std::size_t>(from.bytes) });
        };
        record.compileContext = text(entry.compileContext);
        record.userMetadata = text(entry.userMetadata);
        record.internalMetadata = text(entry.internalMetadata) & 0xffffff;
    }
    if (m_stacks->kind() != StackKind::None)
        takeStack(device, entry, record);
    device.ring.commit();
    device.events.store(device.events.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

int Agent::onCallBegins(const hook::Call& call) noexcept
{
    return m_forked.load(std::memory_order_relaxed) || !isRecording() ? -1 : m_calls.begins(call);
}

/// What the program set before its calls were followed: it holds as long as no call was marked, so that it
/// may be asked for late. LibTorch makes the device that it is asked about the current one, and CUDA makes a
/// device used by that: those that are not are left alone.
void Agent::tellFractions(Recorder& recorder)
{
    const auto get = reinterpret_cast<int (*)(int*)>(cudaFunction("cudaGetDevice"));
    const auto set = reinterpret_cast<int (*)(int)>(cudaFunction("cudaSetDevice"));
    const auto stateOf
        = reinterpret_cast<int (*)(int, unsigned*, int*)>(cudaFunction("cuDevicePrimaryCtxGetState"));
    const auto isUsed = [&](int device) {
        unsigned flags = 0;
        int used = 0;
        return stateOf(device, &flags, &used) == 0 && used != 0;
    };
    int current = 0;
    if (!m_hook.memoryFraction || !get || !set || !stateOf || get(&current) != 0 || !isUsed(current))
        return;
    for (int device = 0; device < m_deviceCount; ++device) {
        if (m_devices[static_cast<std::size_t>(device)]->fractionKnown.load() || !isUsed(device))
            continue;
        const double fraction = m_hook.memoryFraction(device);
        if (fraction < 0 || fraction >= 1)
            continue;
        m_devices[static_cast<std::size_t>(device)]->fractionKnown.store(true);
        recorder.tell({ wire::deviceKey(wire::info::kDevice, device, wire::info::kDeviceFraction),
            wire::numberText(fraction) });
    }
    if (int now = current; get(&now) == 0 && now != current)
        set(current);
}

/// Under the lock of the device.
void Agent::mark(int index, CallMarks::Kind kind, const hook::Call& call) noexcept
{
    Device& device = *m_devices[static_cast<std::size_t>(index)];
    const Recorder* recorder = m_recorder.load(std::memory_order_relaxed);
    if (!device.open || !recorder || !recorder->isWriting())
        return;
    if (kind == CallMarks::Kind::MemoryFraction)
        device.fractionKnown.store(true);
    EventRecord* const record = device.ring.reserve(true);
    if (!record)
        return;
    *record = {};
    record->action = EventRecord::kCall;
    record->stackKind = static_cast<std::uint8_t>(kind);
    record->bytes = std::bit_cast<std::int64_t>(call.fraction);
    record->poolOwner = call.poolOwner;
    record->poolId = static_cast<std::uint32_t>(call.poolId);
    record->userMetadata
        = internText(*m_texts, { call.text.data, static_cast<std::size_t>(call.text.bytes) });
    record->counter = m_hook.counter();
    device.ring.commit();
}

void Agent::onOutOfMemory(std::int32_t, std::int64_t) noexcept
{
    if (m_forked.load(std::memory_order_relaxed))
        return;
    try {
        const std::lock_guard control(m_control);
        Recorder* recorder = m_recorder.load(std::memory_order_relaxed);
        if (!recorder || !recorder->isWriting())
            return;
        takeState(StatePurpose::OutOfMemory);
        constexpr std::int64_t kPatienceNs = 10'000'000'000;
        if (!recorder->flush(kPatienceNs))
            say(recorder->name() + ": the disk is slow: the state of this out-of-memory is written later");
    } catch (...) {
        // The program is about to throw its own exception: that one matters.
    }
}

} // namespace strata::agent
