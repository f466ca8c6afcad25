// SPDX-License-Identifier: GPL-3.0-or-later
// A short cut for what fills a snapshot: the dict of an event, as Python's pickler writes it.
#include "model/readers/pickle/opcodes.h"
#include "model/readers/pickle/pickle_reader.h"
#include "model/readers/source/little_endian.h"

namespace strata::model {

namespace {

using namespace pickle;

/// No member of an event that the short cut takes is longer; 255 bytes of a text and its opcodes.
constexpr std::ptrdiff_t kLongestMember = 300;

} // namespace

/// Length of an opcode at `at` that stores the last value under the next number: 0 if there is none.
std::size_t PickleReader::storeLength(const std::uint8_t* at) const
{
    switch (*at) {
    case kMemoize:
        return 1;
    case kBinPut:
        return at[1] == m_memo.size() ? 2 : 0;
    case kLongBinPut:
        return littleEndian32(at + 1) == m_memo.size() ? 5 : 0;
    default:
        return 0;
    }
}

void PickleReader::store(Value value)
{
    m_memo.push_back(value);
    ++m_memoCount;
}

/// The value of a member, if it is written in one of the ways that recorders use: a stored value, a number, a
/// text, a pair of small numbers, a known stack. `next` is nullptr, and nothing has happened, otherwise.
inline PickleReader::Member PickleReader::takeMember(const std::uint8_t* p)
{
    switch (*p) {
    case kBinGet:
        return { m_memo.size() > p[1] ? m_memo[p[1]] : Value::unset(), p + 2 };
    case kLongBinGet: {
        const std::size_t key = littleEndian32(p + 1);
        return { m_memo.size() > key ? m_memo[key] : Value::unset(), p + 5 };
    }
    case kLong1: {
        const std::uint8_t count = p[1];
        if (count == 0 || count > 7)
            return { Value::unset(), nullptr };
        const int unused = 64 - 8 * count;
        return { Value::integer(static_cast<std::int64_t>(littleEndian64(p + 2) << unused) >> unused),
            p + 2 + count };
    }
    case kBinInt:
        return { Value::integer(static_cast<std::int32_t>(littleEndian32(p + 1))), p + 5 };
    case kBinInt2:
        return { Value::integer(p[1] | p[2] << 8), p + 3 };
    case kBinInt1:
        if (p[2] != kBinInt1)
            return { Value::integer(p[1]), p + 2 };
        [[fallthrough]];
    default:
        return takeLongMember(p);
    }
}

PickleReader::Member PickleReader::takeLongMember(const std::uint8_t* p)
{
    constexpr Member left{ Value::unset(), nullptr };
    Value value;
    switch (*p) {
    case kBinInt1:
        if (p[4] != kTuple2)
            return left;
        value = Value::pair(p[1], p[3]);
        p += 5;
        break;
    case kShortBinUnicode:
        value = m_heap.text({ reinterpret_cast<const char*>(p + 2), p[1] });
        p += 2 + p[1];
        break;
    case kEmptyList: {
        const std::size_t stored = storeLength(p + 1);
        p += 1 + stored;
        if (*p != kMark)
            return left;
        const FrameRuns::Hit hit = m_frameRuns.find(p + 1, m_stream.end());
        if (hit.length == 0)
            return left;
        if (stored > 0)
            store(m_heap.newStack(hit.stack));
        return { Value::row(Value::Tag::Stack, hit.stack.value), p + 1 + hit.length };
    }
    default:
        return left;
    }
    if (const std::size_t length = storeLength(p); length > 0) {
        store(value);
        p += length;
    }
    return { value, p };
}

/// Reads the members of an event whose dict is open, up to and with SETITEMS, and makes its row. What it
/// cannot take it leaves: the members so far are in m_eventFields, their keys in m_eventKeys, and `at` stands
/// before the next one.
///
/// Keys are stored values that come in the same order in every event, so the bytes that wrote each key of the
/// last event are compared first.
PickleReader::EventDict PickleReader::readEventDict(const std::uint8_t*& at, Value dict, Home home)
{
    EventFields& fields = m_eventFields;
    fields.clear();
    std::size_t keys = 0;
    const std::uint8_t* const last = m_stream.end() - kLongestMember;
    const std::uint8_t* p = at;
    const std::uint8_t* begin = p;
    const auto left = [&] {
        m_eventKeys = keys;
        at = begin;
        return EventDict::Left;
    };
    for (;; ++keys) {
        begin = p;
        if (p > last || keys == m_keyShapes.size())
            return left();
        KeyShape& shape = m_keyShapes[keys];
        const std::uint64_t bytes = littleEndian64(p);
        if ((bytes & shape.mask) == shape.bytes) [[likely]] {
            p += shape.length;
        } else {
            const Value key = peekGet(p);
            if (!key.is(Value::Tag::Text) || key.row() >= EventFields::kKeys) {
                if (*p == kSetItems)
                    break;
                return left();
            }
            shape.length = static_cast<std::uint8_t>(p - begin);
            shape.mask = (std::uint64_t{ 1 } << 8 * shape.length) - 1;
            shape.bytes = bytes & shape.mask;
            shape.key = static_cast<Known>(key.row());
        }
        const Known key = shape.key;
        if (fields.has(key))
            return left();
        const Member member = takeMember(p);
        if (member.next == nullptr || member.value.is(Value::Tag::Unset))
            return left();
        fields[key] = member.value;
        p = member.next;
    }
    Trace* trace = nullptr;
    if (!m_heap.traceAtHome(home, trace))
        return EventDict::Failed;
    if (trace == nullptr)
        return left();
    at = p + 1;
    if (!m_heap.traces().add(*trace, fields))
        return EventDict::Failed;
    m_heap.setEvent(dict, home, *trace);
    return EventDict::Read;
}

/// Pushes what readEventDict() left.
Value* PickleReader::pushMembers(Value* top) const
{
    for (std::size_t i = 0; i < m_eventKeys; ++i) {
        *top++ = Value::text(idOf(m_keyShapes[i].key));
        *top++ = m_eventFields[m_keyShapes[i].key];
    }
    return top;
}

} // namespace strata::model
