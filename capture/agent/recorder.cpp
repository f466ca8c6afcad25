// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/recorder.h"

#include "capture/agent/program/texts.h"
#include "capture/agent/say.h"
#include "capture/agent/told_chunks.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <numeric>
#include <utility>

namespace strata::agent {

namespace {

using std::chrono::nanoseconds;

/// A process that is still there so long after a signal goes on.
constexpr std::int64_t kEndsWithinNs = 2'000'000'000;

/// No signal handler of the program may run on our thread, and a file that grows too large is an error.
class SignalsBlocked {
public:
    SignalsBlocked()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &m_before);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

private:
    sigset_t m_before;
};

} // namespace

Recorder::Recorder(std::unique_ptr<wire::ChunkSink> sink, std::vector<wire::KeyValue> info, Devices& devices,
    Stacks& stacks, const SequenceTable& texts, std::uint64_t (*counter)() noexcept, Options options)
    : m_sink(std::move(sink))
    , m_devices(devices)
    , m_texts(texts)
    , m_options(std::move(options))
    , m_clock(counter)
    , m_eventNumbers(m_numbers, stacks, m_options.modules)
    , m_streams(devices.size())
    , m_driver(m_options.readDriver, std::max(devices.size(), m_options.totalsOf), m_options.totalsOf == 0)
    , m_totals(std::max(devices.size(), m_options.totalsOf))
    , m_info(std::move(info))
{
    for (std::size_t i = 0; i < m_streams.size(); ++i)
        m_streams[i].chunk.device = static_cast<std::int32_t>(i);
}

Recorder::~Recorder()
{
    finish();
}

void Recorder::start()
{
    const SignalsBlocked blocked;
    m_thread = std::thread([this] { run(); });
    m_handle.store(m_thread.native_handle());
}

void Recorder::recordWork(const cupti::Library& library, cupti::Activity& activity, OperatorLog* operators)
{
    const std::lock_guard lock(m_mutex);
    m_workWanted = { &library, &activity, operators };
}

void Recorder::writeDeepStepsOf(DeepLog& log, CallLog& calls)
{
    m_callLog.store(&calls);
    m_deepLog.store(&log);
}

void Recorder::add(TakenState state)
{
    const std::lock_guard lock(m_mutex);
    m_states.push_back(std::move(state));
}

void Recorder::annotate(
    wire::AnnotationKind kind, std::string_view name, std::int64_t timeNs, std::uint32_t thread)
{
    const std::lock_guard lock(m_mutex);
    m_annotations.push_back({ kind, timeNs, thread, std::string(name) });
    if (!m_threadNames.contains(thread))
        nameThread(thread);
}

/// Under the mutex. Nothing for a thread that has ended.
void Recorder::nameThread(std::uint32_t thread)
{
    std::string& known = m_threadNames[thread];
    const std::string now = nameOfThread(thread);
    if (now.empty() || now == known)
        return;
    known = now;
    m_info.emplace_back(
        wire::deviceKey(wire::info::kThread, static_cast<std::int32_t>(thread), wire::info::kThreadName),
        known);
}

void Recorder::list(std::vector<ListedTensor> tensors)
{
    const std::lock_guard lock(m_mutex);
    if (m_listed.empty())
        m_listed = std::move(tensors);
    else
        m_listed.insert(m_listed.end(), tensors.begin(), tensors.end());
}

void Recorder::tell(wire::KeyValue item)
{
    const std::lock_guard lock(m_mutex);
    m_info.push_back(std::move(item));
}

bool Recorder::flush(std::int64_t patienceNs)
{
    std::unique_lock lock(m_mutex);
    const std::uint64_t mine = ++m_flushesWanted;
    m_wake.notify_one();
    return m_flushed.wait_for(
        lock, nanoseconds(patienceNs), [&] { return m_flushesDone >= mine || m_finishing; });
}

void Recorder::flushAtEnd(int signal, int patienceMs) noexcept
{
    if (pthread_equal(pthread_self(), m_handle.load(std::memory_order_relaxed)))
        return; // it is ours that fails
    m_endSignal.store(signal);
    const std::uint32_t mine = m_endsWanted.fetch_add(1) + 1;
    constexpr timespec kMillisecond{ 0, 1'000'000 };
    for (int waited = 0; waited < patienceMs && m_endsDone.load() < mine; ++waited)
        nanosleep(&kMillisecond, nullptr);
}

void Recorder::finish()
{
    if (!m_thread.joinable())
        return;
    {
        const std::lock_guard lock(m_mutex);
        // Some are given theirs later.
        for (const auto& [thread, name] : m_threadNames)
            nameThread(thread);
        m_finishing = true;
        m_wake.notify_one();
    }
    m_thread.join();
    m_flushed.notify_all();
}

void Recorder::run()
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_wake.wait_for(lock, nanoseconds(m_options.pauseNs),
            [&] { return m_finishing || m_flushesWanted > m_flushesDone || m_endsWanted > m_endsDone; });
        const bool finishing = m_finishing;
        const std::uint64_t wanted = m_flushesWanted;
        const std::uint32_t ends = m_endsWanted.load();
        const bool flushing = wanted > m_flushesDone || ends > m_endsDone;
        if (ends > m_endsDone) {
            m_info.emplace_back(wire::info::kEndedBy, wire::endedBy(m_endSignal.load()));
            m_endToldNs = nowNs();
        } else if (m_endToldNs != 0 && nowNs() - m_endToldNs > kEndsWithinNs) {
            m_info.emplace_back(wire::info::kEndedBy, ""); // a handler of the program saw to it
            m_endToldNs = 0;
        }
        if (m_workWanted.activity && !m_work) {
            m_work = std::make_unique<WorkRows>(
                m_numbers, *m_workWanted.library, *m_workWanted.activity, ThreadTable::bySelf);
            if (m_workWanted.operators)
                m_work->writeOperatorsOf(*m_workWanted.operators);
        }
        lock.unlock();
        if (finishing && m_work)
            m_workWanted.activity->end();
        look(finishing || flushing);
        m_driver.look(nowNs(), flushing, finishing);
        writeDriver();
        tellTotals();
        lock.lock();
        m_endsDone.store(ends);
        m_flushesDone = wanted;
        m_flushed.notify_all();
        if (finishing)
            break;
    }
    lock.unlock();
    writeDigests();
    m_writer.index();
    m_sink->close();
    complain();
}

void Recorder::look(bool writeAll)
{
    // What waits now lies before the time that is read next. A slope of the clock needs a millisecond.
    std::vector<std::uint64_t> waiting;
    for (const auto& device : m_devices)
        waiting.push_back(device->ring.waiting());
    const bool writesWork = isWorkDue(writeAll);
    if (writesWork)
        m_work->collect();
    m_clock.read();
    while (!m_clock.hasSlope()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        m_clock.read();
    }
    const std::uint64_t chunks = m_writer.chunks();
    for (std::size_t i = 0; i < m_devices.size(); ++i)
        take(i, waiting[i]);
    const std::int64_t now = nowNs();
    const std::int64_t patience
        = m_sink->isWatched() ? std::min(m_options.watchedFlushNs, m_options.flushNs) : m_options.flushNs;
    const auto isDue = [&](std::int64_t since) { return writeAll || now - since >= patience || now < since; };
    for (Stream& stream : m_streams) {
        if (!stream.chunk.rows.empty() && isDue(stream.oldestNs))
            writeEvents(stream);
    }
    if (m_calls.size() > 0 && isDue(m_calls.sinceNs()))
        m_calls.write(m_numbers, m_writer);
    if (writesWork)
        writeWork();
    writeDeepSteps();
    writeQueued();
    if (writeAll || m_writer.chunks() != chunks)
        m_sink->check();
    complain();
}

void Recorder::take(std::size_t device, std::uint64_t waiting)
{
    EventRing& ring = m_devices[device]->ring;
    while (waiting > 0) {
        const std::span<const EventRecord> records = ring.front(waiting);
        for (const EventRecord& record : records)
            takeRecord(device, record);
        ring.release(records.size());
        waiting -= records.size();
    }
}

void Recorder::takeRecord(std::size_t device, const EventRecord& record)
{
    Stream& stream = m_streams[device];
    wire::EventChunk& chunk = stream.chunk;
    const std::uint64_t event = chunk.firstEvent + chunk.rows.size();
    if (record.action == EventRecord::kCut) {
        m_cuts[{ static_cast<std::uint32_t>(record.bytes), device }] = event;
        return;
    }
    if (record.action == EventRecord::kCall) {
        const std::string_view text
            = record.userMetadata != 0 ? textAt(m_texts, record.userMetadata) : std::string_view();
        m_calls.add(static_cast<std::int32_t>(device), event, record, text, timeOf(stream, record.counter),
            m_numbers);
        if (m_calls.size() >= wire::kEventsAChunk)
            m_calls.write(m_numbers, m_writer);
        return;
    }
    if (record.action == EventRecord::kLost) {
        m_lostInAll += static_cast<std::uint64_t>(record.bytes);
        m_lostRows.push_back(
            { static_cast<std::int32_t>(device), event, static_cast<std::uint64_t>(record.bytes) });
        stream.follower.giveUp();
        m_driver.onLost(device);
        return;
    }
    m_driver.onEvent(device, record.action, record.bytes);
    m_totals.onEvent(device, static_cast<wire::EventAction>(record.action), record.bytes);
    if (chunk.rows.empty())
        stream.oldestNs = nowNs();
    const auto row = static_cast<std::uint32_t>(chunk.rows.size());
    const auto addText = [&](wire::SparseKind kind, std::uint32_t text) {
        if (text != 0)
            chunk.sparse[static_cast<std::size_t>(kind)].push_back(
                { row, m_numbers.string(textAt(m_texts, text)) });
    };
    addText(wire::SparseKind::CompileContext, record.compileContext);
    addText(wire::SparseKind::UserMetadata, record.userMetadata);
    if (record.internalMetadata != 0) {
        std::string json = std::string("{\"") + wire::extras::kInternalMetadata + "\": \"";
        for (const char c : textAt(m_texts, record.internalMetadata)) {
            if (c == '"' || c == '\\')
                json += '\\';
            if (static_cast<unsigned char>(c) >= 0x20)
                json += c;
        }
        chunk.sparse[static_cast<std::size_t>(wire::SparseKind::Extras)].push_back(
            { row, m_numbers.string(json + "\"}") });
    }
    const EventNumbers::StackAndModule stack = m_eventNumbers.stackOf(record);
    const bool allocates = record.action == static_cast<std::uint8_t>(wire::EventAction::Alloc);
    chunk.rows.push_back({ static_cast<wire::EventAction>(record.action), record.address, record.bytes,
        timeOf(stream, record.counter), stack.stack, m_numbers.stream(record.stream),
        record.hasPool ? m_numbers.pool(
            { static_cast<std::int64_t>(record.poolOwner), record.poolId, wire::PoolKind::Unknown })
                       : wire::kNone,
        allocates ? m_eventNumbers.moduleOf(stack.module) : wire::kNone, threadOf(record),
        static_cast<wire::EventPhase>(record.phase) });
    stream.follower.add(chunk.rows.back());
    if (chunk.rows.size() >= wire::kEventsAChunk)
        writeEvents(stream);
}

std::uint32_t Recorder::threadOf(const EventRecord& record)
{
    const std::uint32_t thread = ThreadTable::threadOf(record.thread);
    if (thread == 0)
        return 0;
    if (record.thread >= m_threadsMet.size())
        m_threadsMet.resize(record.thread + 1U);
    if (!m_threadsMet[record.thread]) {
        m_threadsMet[record.thread] = true;
        const std::lock_guard lock(m_mutex);
        if (!m_threadNames.contains(thread))
            nameThread(thread);
    }
    return thread;
}

/// Two lines of the clock meet to within nanoseconds: that must not turn the order of two events.
std::int64_t Recorder::timeOf(Stream& stream, std::uint64_t counter)
{
    std::int64_t ns = m_clock.toNs(counter);
    if (counter >= stream.lastCounter)
        ns = std::max(ns, stream.lastNs);
    stream.lastCounter = counter;
    stream.lastNs = ns;
    return ns;
}

void Recorder::writeEvents(Stream& stream)
{
    m_numbers.write(m_writer);
    writeLost();
    m_calls.write(m_numbers, m_writer); // who is killed has those of the events that are written
    m_writer.chunk(wire::ChunkType::Events, [&](wire::Bytes& out) { wire::encodeEvents(stream.chunk, out); });
    stream.chunk.firstEvent += stream.chunk.rows.size();
    stream.chunk.rows.clear();
    for (auto& sparse : stream.chunk.sparse)
        sparse.clear();
}

/// Behind the events that it names.
void Recorder::writeDeepSteps()
{
    DeepLog* const log = m_deepLog.load();
    auto step = log ? log->take() : std::nullopt;
    if (!step)
        return;
    for (Stream& stream : m_streams)
        if (!stream.chunk.rows.empty())
            writeEvents(stream);
    writeDeepStep(std::move(*step), m_numbers, m_writer);
    CallLog* const calls = m_callLog.load();
    if (auto list = calls ? calls->take() : std::nullopt)
        writeCallList(std::move(*list), m_numbers, m_writer);
}

void Recorder::writeLost()
{
    if (!m_lostRows.empty())
        m_writer.chunk(wire::ChunkType::Lost, [&](wire::Bytes& out) { wire::encodeLost(m_lostRows, out); });
    m_lostRows.clear();
}

void Recorder::writeState(const TakenState& state)
{
    for (std::size_t device = 0; device < m_devices.size(); ++device) {
        const auto cut = m_cuts.find({ state.number, device });
        if (cut == m_cuts.end())
            continue;
        const wire::State out = stateOf(state, static_cast<std::int32_t>(device), cut->second, m_numbers);
        wire::Follower& follower = m_streams[device].follower;
        if (state.purpose == StatePurpose::Base) {
            follower.begin(out);
            m_totals.onBase(out);
            m_driver.onBase(device,
                std::transform_reduce(out.segments.begin(), out.segments.end(), std::int64_t{ 0 },
                    std::plus<>(), [](const wire::SegmentRow& segment) { return segment.bytes; }));
        }
        if (state.purpose == StatePurpose::End)
            m_streams[device].digest = follower.finish(out);
        // A device that the program never used gets no state.
        if (out.segments.empty() && m_streams[device].chunk.firstEvent == 0)
            continue;
        m_streams[device].hasState = true;
        m_numbers.write(m_writer);
        m_writer.chunk(
            state.purpose == StatePurpose::Base ? wire::ChunkType::BaseState : wire::ChunkType::EndState,
            [&](wire::Bytes& bytes) { wire::encodeState(out, bytes); });
    }
}

/// What a summary says, so that it can be had without the events: for all devices or for none.
void Recorder::writeDigests()
{
    const auto isUsed = [](const Stream& stream) { return stream.hasState; };
    if (!std::ranges::all_of(
            m_streams, [&](const Stream& stream) { return !isUsed(stream) || stream.digest.has_value(); }))
        return;
    for (Stream& stream : m_streams) {
        if (!isUsed(stream))
            continue;
        stream.digest->chunks = m_writer.chunks();
        stream.digest->chain = m_writer.chain();
        m_writer.chunk(
            wire::ChunkType::Digest, [&](wire::Bytes& out) { wire::encodeDigest(*stream.digest, out); });
    }
}

void Recorder::writeSettings(const TakenState& state)
{
    if (state.settings == m_settings || state.settings.empty())
        return;
    m_settings = state.settings;
    m_writer.chunk(
        wire::ChunkType::Settings, [&](wire::Bytes& out) { wire::encodeKeyValues(m_settings, out); });
}

void Recorder::writeDriver()
{
    const std::vector<wire::DriverRow> rows = m_driver.take();
    m_totals.onDriver(rows);
    if (!rows.empty())
        m_writer.chunk(
            wire::ChunkType::DriverMemory, [&](wire::Bytes& out) { wire::encodeDriver(rows, out); });
}

bool Recorder::isWorkDue(bool writeAll) const
{
    if (!m_work)
        return false;
    const std::int64_t now = nowNs();
    const std::int64_t patience
        = m_sink->isWatched() ? std::min(m_options.watchedWorkFlushNs, m_options.flushNs) : m_options.flushNs;
    return writeAll || now - m_workNs >= patience || now < m_workNs;
}

void Recorder::writeWork()
{
    m_work->write(m_clock, m_writer);
    m_workNs = nowNs();
}

void Recorder::tellTotals()
{
    constexpr std::int64_t kEveryNs = 100'000'000;
    const std::int64_t now = nowNs();
    if (now - m_totalsNs < kEveryNs && now >= m_totalsNs)
        return;
    m_totalsNs = now;
    m_sink->tell(m_totals.at(now, m_options.totalsOf == 0));
}

void Recorder::writeQueued()
{
    std::vector<TakenState> states;
    std::vector<wire::KeyValue> info;
    std::vector<Queued> annotations;
    std::vector<ListedTensor> listed;
    {
        const std::lock_guard lock(m_mutex);
        states.swap(m_states);
        info.swap(m_info);
        annotations.swap(m_annotations);
        listed.swap(m_listed);
    }
    if (!info.empty())
        m_writer.chunk(wire::ChunkType::Info, [&](wire::Bytes& out) { wire::encodeKeyValues(info, out); });
    if (!annotations.empty()) {
        std::vector<wire::AnnotationRow> rows;
        for (const Queued& queued : annotations)
            rows.push_back({ queued.kind, -1, m_numbers.string(queued.name), queued.timeNs, queued.thread });
        m_numbers.write(m_writer);
        m_writer.chunk(
            wire::ChunkType::Annotations, [&](wire::Bytes& out) { wire::encodeAnnotations(rows, out); });
    }
    writeRoles(listed, m_numbers, m_writer);
    if (states.empty())
        return;
    // The marks of a state are in the rings before the state is handed over: now they are taken too, and
    // with them all events before them.
    for (std::size_t i = 0; i < m_devices.size(); ++i)
        take(i, m_devices[i]->ring.waiting());
    for (Stream& stream : m_streams) {
        if (!stream.chunk.rows.empty())
            writeEvents(stream);
    }
    writeLost();
    m_calls.write(m_numbers, m_writer);
    for (const TakenState& state : states) {
        writeSettings(state);
        if (state.host)
            writeHost(*state.host, m_writer);
        writeState(state);
    }
}

void Recorder::complain()
{
    if (m_writer.problem().empty() || std::exchange(m_complained, true))
        return;
    m_writing.store(false, std::memory_order_relaxed);
    say(m_sink->name() + ": " + m_writer.problem()
        + ": the recording ends here, the program goes on; what was written can be opened");
}

} // namespace strata::agent
