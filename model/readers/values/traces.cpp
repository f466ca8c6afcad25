// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/values/traces.h"

#include "model/readers/values/heap.h"
#include "model/readers/values/json_text.h"

#include <array>
#include <boost/container_hash/hash.hpp>

namespace strata::model {

namespace {

constexpr std::int64_t kMostMicroseconds = std::numeric_limits<std::int64_t>::max() / 1000;
constexpr std::uint64_t kMostEvents = 0xfffffffeu;
constexpr std::uint64_t kMostJoinedFrames = std::uint64_t{ 1 } << 26;
constexpr std::uint64_t kMostJsonBytes = std::uint64_t{ 1 } << 28;
constexpr std::size_t kMostJsonOfOne = 16384;
constexpr std::size_t kMostStreams = kNoIndex - 1;

/// Whether a recorder of today had nothing to say in any of the texts of an event.
bool hasNoTexts(const EventFields& fields)
{
    const auto absent
        = [](Value value, Known nothing) { return value.is(Value::Tag::Unset) || isText(value, nothing); };
    return absent(fields[Known::CompileContext], Known::NotApplicable)
        && absent(fields[Known::UserMetadata], Known::Empty) && !fields.has(Known::ForwardFrames)
        && !fields.has(Known::Category) && !fields.has(Known::InternalMetadata) && fields.others.empty();
}

} // namespace

std::size_t Traces::PoolHash::operator()(const Pool& pool) const
{
    std::size_t seed = 0;
    boost::hash_combine(seed, pool.owner);
    boost::hash_combine(seed, pool.id);
    boost::hash_combine(seed, static_cast<int>(pool.kind));
    return seed;
}

Traces::Traces(Heap& heap, Recording& recording)
    : m_heap(heap)
    , m_recording(recording)
{
}

bool Traces::start(std::size_t& row)
{
    if (m_traces.size() >= kMostTraces)
        return m_heap.failWith(
            Error::Kind::Format, say("there are more than %1 lists of events", kMostTraces));
    row = m_traces.size();
    m_traces.push_back(std::make_unique<Trace>());
    return true;
}

bool Traces::wrong(const Trace& trace, const char* key, Value value, Sentence expected)
{
    return m_heap.failWith(Error::Kind::Format,
        say("event %1: '%2' is %3, not %4", trace.rows(), key, m_heap.typeName(value), std::move(expected)));
}

bool Traces::tooManyBytes()
{
    return m_heap.failWith(Error::Kind::Format, say("its sizes add up to more than 4 EiB"));
}

bool Traces::add(Trace& trace, std::span<const Value> pairs)
{
    m_fields.clear();
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
        const Known key = keyOf(pairs[i]);
        if (static_cast<std::size_t>(key) < EventFields::kKeys) {
            m_fields[key] = pairs[i + 1];
        } else {
            m_heap.countUnknown("event", pairs[i]);
            m_fields.others.emplace_back(pairs[i], pairs[i + 1]);
        }
    }
    return add(trace, m_fields);
}

bool Traces::add(Trace& trace, EventFields& fields)
{
    using Tag = Value::Tag;
    if (trace.rows() >= kMostEvents)
        return m_heap.failWith(Error::Kind::Format, say("a device has more than 4,294,967,294 events"));

    const Value name = fields[Known::ActionName];
    if (!name.is(Tag::Text))
        return wrong(trace, "action", name, say("text"));
    Action action = Action::Other;
    if (name.row() - static_cast<std::uint64_t>(Known::Alloc)
        <= static_cast<std::uint64_t>(Known::Annotate) - static_cast<std::uint64_t>(Known::Alloc))
        action = static_cast<Action>(name.row() - static_cast<std::uint64_t>(Known::Alloc));

    Value at = fields[Known::Addr];
    if (fields.has(Known::DeviceFree)) [[unlikely]] {
        if (action == Action::Oom)
            at = fields[Known::DeviceFree];
        else
            fields.others.emplace_back(Value::text(idOf(Known::DeviceFree)), fields[Known::DeviceFree]);
    }
    std::uint64_t address = 0;
    if (at.is(Tag::Int)) [[likely]]
        address = static_cast<std::uint64_t>(at.intValue());
    else if (!at.is(Tag::Unset)) {
        const std::optional<std::uint64_t> bits = m_heap.bitsOf(at);
        if (!bits)
            return wrong(trace, "addr", at, say("a whole number"));
        address = *bits;
    }

    const Value size = fields[Known::Size];
    std::int64_t bytes = 0;
    if (size.is(Tag::Int)) [[likely]] {
        bytes = size.intValue();
    } else if (!size.is(Tag::Unset) || action <= Action::SegmentUnmap) {
        const std::optional<std::int64_t> wide = m_heap.signedOf(size);
        if (!wide)
            return wrong(trace, "size", size, say("a whole number below 2^63"));
        bytes = *wide;
    }
    if (bytes < 0)
        return m_heap.failWith(
            Error::Kind::Format, say("event %1: 'size' is negative (%2)", trace.rows(), bytes));

    StreamIndex stream = m_lastStreamIndex;
    if (fields[Known::Stream] != m_lastStream && !streamOf(fields[Known::Stream], stream))
        return false;

    const Value clock = fields[Known::TimeUs];
    std::int64_t timeUs = 0;
    if (clock.is(Tag::Int)) [[likely]] {
        timeUs = clock.intValue();
    } else if (!clock.is(Tag::Unset)) {
        const std::optional<std::int64_t> wide = m_heap.signedOf(clock);
        if (!wide)
            return wrong(trace, "time_us", clock, say("a whole number"));
        timeUs = *wide;
    }
    if (timeUs > kMostMicroseconds || timeUs < -kMostMicroseconds)
        return m_heap.failWith(
            Error::Kind::Format, say("event %1: 'time_us' is %2, which is no time", trace.rows(), timeUs));

    StackId stack;
    if (const Value frames = fields[Known::Frames]; frames.is(Tag::Stack))
        stack = { static_cast<std::uint32_t>(frames.row()) };
    else if (!m_heap.consumeFrames(frames, stack))
        return wrong(trace, "frames", frames, say("a list of frames"));
    if (fields.has(Known::CppFrames)) [[unlikely]] {
        StackId native;
        if (!m_heap.consumeFrames(fields[Known::CppFrames], native))
            return wrong(trace, "cpp_frames", fields[Known::CppFrames], say("a list of frames"));
        if (!joined(native, stack, stack))
            return false;
    }

    PoolIndex pool = m_lastPoolIndex;
    if (fields[Known::PoolId] != m_lastPool && !poolOfEvent(trace, fields[Known::PoolId], pool))
        return false;
    if (!addBytes(bytes))
        return false;

    EventColumns& columns = trace.columns;
    const auto row = static_cast<std::uint32_t>(columns.action.size());
    if (action == Action::Other) [[unlikely]]
        columns.otherAction.set(row, name.textId());
    if (!hasNoTexts(fields)) [[unlikely]]
        setTexts(columns, row, fields);
    columns.action.push_back(action);
    columns.address.push_back(address);
    columns.bytes.push_back(bytes);
    columns.stack.push_back(stack);
    columns.stream.push_back(stream);
    columns.pool.push_back(pool);
    if (!clock.is(Tag::Unset)) {
        columns.timeNs.extendTo(row, 0);
        columns.timeNs.push_back(timeUs * 1000);
    } else if (!columns.timeNs.empty()) {
        columns.timeNs.push_back(columns.timeNs.back());
    }
    ++m_eventCount;
    return true;
}

/// Texts that are mostly absent, and whatever Strata has no column for.
void Traces::setTexts(EventColumns& columns, std::uint32_t row, EventFields& fields)
{
    const auto set = [&](Known key, Known absent, SparseText& column) {
        const Value value = fields[key];
        if (value.is(Value::Tag::Text)) {
            if (!isText(value, absent) && !isText(value, Known::Empty))
                column.set(row, value.textId());
        } else if (!value.is(Value::Tag::Unset) && !value.is(Value::Tag::None)) {
            fields.others.emplace_back(Value::text(idOf(key)), value);
        }
    };
    set(Known::CompileContext, Known::NotApplicable, columns.compileContext);
    set(Known::UserMetadata, Known::Empty, columns.userMetadata);
    for (const Known key : { Known::ForwardFrames, Known::Category, Known::InternalMetadata }) {
        const Value value = fields[key];
        if (!value.is(Value::Tag::Unset) && !value.is(Value::Tag::None) && !isText(value, Known::Empty))
            fields.others.emplace_back(Value::text(idOf(key)), value);
    }
    if (!fields.others.empty()) {
        if (const StringId extras = jsonText(fields.others); extras.valid())
            columns.extras.set(row, extras);
    }
}

bool Traces::poolOfEvent(const Trace& trace, Value owner, PoolIndex& pool)
{
    pool = kNoIndex;
    if (owner.is(Value::Tag::Unset) || owner.is(Value::Tag::None))
        return true;
    Pool found;
    if (!poolIdOf(owner, found))
        return wrong(trace, "pool_id", owner, say("a pair of whole numbers"));
    if (!poolOf(found, pool))
        return false;
    if (owner.is(Value::Tag::Pair)) {
        m_lastPool = owner;
        m_lastPoolIndex = pool;
    }
    return true;
}

bool Traces::addCopy(Trace& trace, const Trace& from, std::uint64_t row)
{
    if (trace.rows() >= kMostEvents)
        return m_heap.failWith(Error::Kind::Format, say("a device has more than 4,294,967,294 events"));
    if (!addBytes(from.columns.bytes[row]))
        return false;
    EventColumns& to = trace.columns;
    const auto at = static_cast<std::uint32_t>(trace.rows());
    const auto copyText = [at, row](const SparseText& source, SparseText& target) {
        if (const StringId text = source.at(static_cast<EventIndex>(row)); text.valid())
            target.set(at, text);
    };
    copyText(from.columns.compileContext, to.compileContext);
    copyText(from.columns.userMetadata, to.userMetadata);
    copyText(from.columns.otherAction, to.otherAction);
    copyText(from.columns.extras, to.extras);
    if (from.columns.hasTimes()) {
        to.timeNs.extendTo(at, 0);
        to.timeNs.push_back(from.columns.timeNs[row]);
    } else if (to.hasTimes()) {
        to.timeNs.push_back(to.timeNs.back());
    }
    to.action.push_back(from.columns.action[row]);
    to.address.push_back(from.columns.address[row]);
    to.bytes.push_back(from.columns.bytes[row]);
    to.stack.push_back(from.columns.stack[row]);
    to.stream.push_back(from.columns.stream[row]);
    to.pool.push_back(from.columns.pool[row]);
    ++m_eventCount;
    return true;
}

bool Traces::allTaken() const
{
    for (const auto& trace : m_traces) {
        if (trace->taken != trace->rows())
            return false;
    }
    return true;
}

void Traces::takeAll()
{
    for (const auto& trace : m_traces)
        trace->taken = trace->rows();
}

std::uint64_t Traces::bytesUsed() const
{
    std::uint64_t sum = static_cast<std::uint64_t>(m_eventCount) * 33 + m_traces.size() * 65536;
    for (const auto& trace : m_traces) {
        const EventColumns& c = trace->columns;
        sum += c.compileContext.bytesResident() + c.userMetadata.bytesResident()
            + c.otherAction.bytesResident() + c.extras.bytesResident();
    }
    return sum;
}

bool Traces::streamOf(Value value, StreamIndex& index)
{
    index = kNoIndex;
    if (value.is(Value::Tag::Unset) || value.is(Value::Tag::None))
        return true;
    const std::optional<std::uint64_t> bits = m_heap.bitsOf(value);
    if (!bits)
        return m_heap.failWith(
            Error::Kind::Format, say("a 'stream' is %1, not a whole number", m_heap.typeName(value)));
    const auto handle = static_cast<std::int64_t>(*bits);
    const auto [entry, isNew] = m_streams.try_emplace(handle, static_cast<StreamIndex>(m_streams.size()));
    if (isNew) {
        if (m_recording.streams.size() >= kMostStreams)
            return m_heap.failWith(Error::Kind::Format, say("there are more than %1 streams", kMostStreams));
        m_recording.streams.push_back(handle);
    }
    index = entry->second;
    if (value.is(Value::Tag::Int)) {
        m_lastStream = value;
        m_lastStreamIndex = index;
    }
    return true;
}

bool Traces::poolOf(const Pool& pool, PoolIndex& index)
{
    const auto [entry, isNew] = m_pools.try_emplace(pool, static_cast<PoolIndex>(m_pools.size()));
    if (isNew) {
        if (m_recording.pools.size() >= kMostStreams)
            return m_heap.failWith(
                Error::Kind::Format, say("there are more than %1 memory pools", kMostStreams));
        m_recording.pools.push_back(pool);
    }
    index = entry->second;
    return true;
}

bool Traces::poolIdOf(Value value, Pool& pool) const
{
    if (value.is(Value::Tag::Pair)) {
        pool.owner = value.pairFirst();
        pool.id = value.pairSecond();
        return true;
    }
    const std::span<const Value> items = m_heap.contents(value);
    if (items.size() != 2 || m_heap.isDict(value))
        return false;
    const std::optional<std::uint64_t> owner = m_heap.bitsOf(items[0]);
    const std::optional<std::uint64_t> id = m_heap.bitsOf(items[1]);
    if (!owner || !id)
        return false;
    pool.owner = static_cast<std::int64_t>(*owner);
    pool.id = static_cast<std::int64_t>(*id);
    return true;
}

bool Traces::joined(StackId native, StackId python, StackId& both)
{
    if (!native.valid() || !python.valid()) {
        both = native.valid() ? native : python;
        return true;
    }
    const std::uint64_t key = std::uint64_t{ native.value } << 32 | python.value;
    if (const auto known = m_joined.find(key); known != m_joined.end()) {
        both = known->second;
        return true;
    }
    const std::span<const FrameId> inner = m_recording.stacks.stack(native);
    const std::span<const FrameId> outer = m_recording.stacks.stack(python);
    m_joinedFrames += inner.size() + outer.size();
    if (m_joinedFrames > kMostJoinedFrames)
        return m_heap.failWith(Error::Kind::Refused, say("its stacks are longer than memory allows"));
    std::vector<FrameId> frames(inner.begin(), inner.end());
    frames.insert(frames.end(), outer.begin(), outer.end());
    both = m_recording.stacks.internStack(frames);
    m_joined.emplace(key, both);
    return true;
}

StringId Traces::jsonText(std::span<const std::pair<Value, Value>> members)
{
    if (m_jsonBytes > kMostJsonBytes)
        return {};
    std::string out = "{";
    for (const auto& [key, value] : members) {
        if (out.size() > 1)
            out += ',';
        std::string name;
        (void)appendJson(m_heap, key, 256, name);
        if (key.is(Value::Tag::Text))
            out += name;
        else
            appendJsonString(name, out);
        out += ':';
        (void)appendJson(m_heap, value, kMostJsonOfOne, out);
    }
    out += '}';
    m_jsonBytes += out.size();
    return m_recording.strings.intern(out);
}

} // namespace strata::model
