// SPDX-License-Identifier: GPL-3.0-or-later
// What the walk over a read snapshot asks of the Heap.
#include "model/readers/values/heap.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace strata::model {

namespace {

constexpr std::uint64_t kFewSteps = std::uint64_t{ 1 } << 22;

} // namespace

bool Heap::isDict(Value v) const
{
    return isKind(v, Kind::Dict) || isKind(v, Kind::EmptyDict);
}

bool Heap::isPlainList(Value v) const
{
    return isKind(v, Kind::List) || isKind(v, Kind::EmptyList);
}

Trace* Heap::traceOf(Value list)
{
    return isKind(list, Kind::Trace) ? &m_traces[m_cells[list.row()].payload] : nullptr;
}

bool Heap::isWaitingEvent(Value v)
{
    if (!isEvent(v))
        return false;
    const std::uint64_t event = m_cells[v.row()].payload;
    return (event & kEventRowMask) >= m_traces[event >> kEventRowBits].taken;
}

std::span<const Value> Heap::contents(Value v) const
{
    if (isKind(v, Kind::Dict) || isKind(v, Kind::List))
        return m_contents[m_cells[v.row()].payload];
    return {};
}

std::optional<std::int64_t> Heap::signedOf(Value v) const
{
    if (v.is(Value::Tag::Int))
        return v.intValue();
    if (v.is(Value::Tag::WideInt))
        return static_cast<std::int64_t>(m_wide[v.row()]);
    return std::nullopt;
}

std::optional<std::uint64_t> Heap::bitsOf(Value v) const
{
    if (v.is(Value::Tag::WideUnsigned))
        return m_wide[v.row()];
    if (const std::optional<std::int64_t> i = signedOf(v))
        return static_cast<std::uint64_t>(*i);
    return std::nullopt;
}

std::optional<double> Heap::realOf(Value v) const
{
    if (v.is(Value::Tag::Float))
        return std::bit_cast<double>(m_wide[v.row()]);
    return std::nullopt;
}

Sentence Heap::typeName(Value v) const
{
    switch (v.tag()) {
    case Value::Tag::Int:
    case Value::Tag::WideInt:
    case Value::Tag::WideUnsigned:
        return say("a whole number");
    case Value::Tag::HugeInt:
        return say("a number of more than 64 bits");
    case Value::Tag::None:
    case Value::Tag::Unset:
        return say("nothing (None)");
    case Value::Tag::Bool:
        return say("true or false");
    case Value::Tag::Float:
        return say("a number with a fraction");
    case Value::Tag::Text:
        return say("text");
    case Value::Tag::Bytes:
        return say("binary data");
    case Value::Tag::Pair:
        return say("a pair of numbers");
    case Value::Tag::Stack:
        return say("a stack");
    case Value::Tag::Frame:
        return say("a frame");
    case Value::Tag::Object:
        break;
    }
    switch (m_cells[v.row()].kind) {
    case Kind::EmptyDict:
    case Kind::Dict:
        return say("a dict");
    case Kind::EmptyList:
    case Kind::List:
        return say("a list");
    case Kind::FrameList:
    case Kind::FrameRun:
        return say("a list of frames");
    case Kind::Frame:
        return say("a frame");
    case Kind::Stack:
        return say("a stack");
    case Kind::Trace:
        return say("a list of events");
    case Kind::Event:
        return say("an event");
    }
    return say("something");
}

void Heap::countUnknown(const char* owner, Value key)
{
    auto known = std::find(m_unknownOwners.begin(), m_unknownOwners.end(), owner);
    if (known == m_unknownOwners.end())
        known = m_unknownOwners.insert(m_unknownOwners.end(), owner);
    const auto row = static_cast<std::uint64_t>(known - m_unknownOwners.begin());
    ++m_unknown[row << 32 | (key.is(Value::Tag::Text) ? key.textId().value : StringId::kNone)];
}

void Heap::writeUnknownCounts()
{
    for (const auto& [where, count] : m_unknown) {
        const StringId key{ static_cast<std::uint32_t>(where) };
        const std::string_view name = key.valid() ? m_recording.strings[key] : "(a key that is no text)";
        m_recording.unknownKeys[fmt::format("{}.{}", m_unknownOwners[where >> 32], name)] += count;
    }
    m_unknown.clear();
}

Error Heap::tooLarge(std::uint64_t memoryLimit)
{
    const auto bytes = static_cast<std::int64_t>(std::min<std::uint64_t>(memoryLimit, INT64_MAX));
    return { Error::Kind::Refused,
        say("reading it takes more than %1, half of this machine's memory", asBytes(bytes)),
        say("open it on a machine with more memory, or with --force"), {} };
}

bool Heap::spend(std::size_t steps)
{
    m_steps += steps;
    if (m_steps <= kFewSteps + 4 * m_storedValues)
        return true;
    return failWith(Error::Kind::Refused,
        say("its parts refer to each other so often that reading would take forever"),
        say("no recorder writes this; write the snapshot again with pickle.dump"));
}

} // namespace strata::model
