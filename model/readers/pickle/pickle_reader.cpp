// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/pickle/pickle_reader.h"

#include "model/readers/pickle/opcodes.h"
#include "model/readers/source/little_endian.h"

#include <algorithm>

namespace strata::model {

namespace {

using namespace pickle;

constexpr std::uint64_t kFarMemo = std::uint64_t{ 1 } << 20;

} // namespace

PickleReader::PickleReader(ByteStream& stream, Heap& heap, std::uint64_t memoryLimit)
    : m_stream(stream)
    , m_heap(heap)
    , m_memoryLimit(memoryLimit)
{
}

Result<Value> PickleReader::run()
{
    if (!runLoop())
        return Failure(m_error);
    if (m_stack.size() != 1 || !m_marks.empty()) {
        damaged(say("the pickle stops with %1 values on its stack instead of one", m_stack.size()));
        return Failure(m_error);
    }
    if (!m_heap.traces().allTaken()) {
        m_error = Error{ Error::Kind::Refused, say("an event was made and then left out of its list"),
            say("no recorder writes this; write the snapshot again with pickle.dump"), {} };
        return Failure(m_error);
    }
    return m_stack[0];
}

/// The loop keeps the read position and the top of the stack in registers. Every opcode is at least a byte
/// and pushes at most one value, so refill() makes room on stack and memo for all that the buffer can push,
/// and the loop needs no checks for it.
bool PickleReader::runLoop()
{
    const std::uint8_t* at = m_stream.next();
    const std::uint8_t* op = at;
    Value* top = m_stack.data();
    Value* floor = top;
    const std::uint8_t* newRun = nullptr; // a stack that is written in a way not seen before
    const auto save = [&] {
        m_stack.setSize(static_cast<std::size_t>(top - m_stack.data()));
        m_opAt = m_stream.offsetOf(op);
    };
    const auto load = [&] {
        top = m_stack.data() + m_stack.size();
        floor = m_stack.data() + fence();
    };
    const auto underflow = [&] {
        save();
        return damaged(say("the pickle takes more values from its stack than there are"));
    };

    for (;;) {
        if (m_stream.end() - at < static_cast<std::ptrdiff_t>(ByteStream::kSlack)) [[unlikely]] {
            op = at;
            save();
            newRun = nullptr;
            if (!m_stream.ended() && !refill(at))
                return false;
            load();
            if (at == m_stream.end()
                || static_cast<std::size_t>(m_stream.end() - at) < 1 + argumentBytes(*at))
                return tooShort();
        }
        op = at;
        switch (*at++) {
        case kBinGet: {
            const std::size_t key = *at++;
            if (key >= m_memo.size() || m_memo[key].is(Value::Tag::Unset)) [[unlikely]] {
                save();
                return memoGet(key);
            }
            *top++ = m_memo[key];
            break;
        }
        case kLongBinGet: {
            const std::size_t key = littleEndian32(at);
            at += 4;
            if (key >= m_memo.size() || m_memo[key].is(Value::Tag::Unset)) [[unlikely]] {
                save();
                if (!memoGet(key))
                    return false;
                load();
                break;
            }
            *top++ = m_memo[key];
            break;
        }
        case kMemoize:
            if (top == floor)
                return underflow();
            if (m_memoCount == m_memo.size() && m_farMemo.empty()) [[likely]] {
                m_memo.push_back(top[-1]);
                ++m_memoCount;
            } else {
                save();
                if (!memoPut(m_memoCount))
                    return false;
            }
            break;
        case kBinPut:
        case kLongBinPut: {
            const std::uint64_t key = *op == kBinPut ? at[0] : littleEndian32(at);
            at += *op == kBinPut ? 1 : 4;
            if (top == floor)
                return underflow();
            if (key == m_memo.size() && m_farMemo.empty()) [[likely]] {
                m_memo.push_back(top[-1]);
                ++m_memoCount;
            } else {
                save();
                if (!memoPut(key))
                    return false;
            }
            break;
        }
        case kMark:
            if ((*at == kBinGet || *at == kLongBinGet) && top > floor) {
                const std::uint8_t* key = at;
                if (m_heap.isEmptyList(top[-1])) {
                    const FrameRuns::Hit hit = m_frameRuns.find(at, m_stream.end());
                    if (hit.length > 0) {
                        m_heap.setStack(top[-1], hit.stack);
                        at += hit.length;
                        break;
                    }
                    newRun = m_frameRuns.candidate() > 0 ? at : nullptr;
                } else if (isText(peekGet(key), Known::ActionName) && m_farMemo.empty()
                    && m_memoCount == m_memo.size() && m_heap.isEmptyDict(top[-1])) {
                    save();
                    const EventDict event = readEventDict(at, top[-1], homeOf(m_stack.size() - 1));
                    if (event == EventDict::Failed)
                        return heapFailed();
                    if (event == EventDict::Read)
                        break;
                    m_marks.push_back(m_stack.size());
                    floor = top;
                    top = pushMembers(top);
                    break;
                }
            }
            m_marks.push_back(static_cast<std::uint64_t>(top - m_stack.data()));
            floor = top;
            break;
        case kEmptyDict:
            *top++ = m_heap.newDict();
            break;
        case kEmptyList:
        case kEmptySet:
            *top++ = m_heap.newList();
            break;
        case kBinInt1:
            *top++ = Value::integer(*at++);
            break;
        case kBinInt2:
            *top++ = Value::integer(at[0] | at[1] << 8);
            at += 2;
            break;
        case kBinInt:
            *top++ = Value::integer(static_cast<std::int32_t>(littleEndian32(at)));
            at += 4;
            break;
        case kLong1: {
            const std::uint8_t count = *at++;
            if (count > 0 && count <= 8 && m_stream.end() - at >= 8) [[likely]] {
                const int unused = 64 - 8 * count;
                *top++ = m_heap.integer(static_cast<std::int64_t>(littleEndian64(at) << unused) >> unused);
                at += count;
                break;
            }
            save();
            if (!need(at, count) || !pushLong(at, count))
                return false;
            at += count;
            load();
            break;
        }
        case kShortBinUnicode:
        case kShortBinString: {
            const std::size_t count = *at++;
            if (static_cast<std::size_t>(m_stream.end() - at) >= count) [[likely]] {
                *top++ = m_heap.text({ reinterpret_cast<const char*>(at), count });
                at += count;
                break;
            }
            save();
            if (!pushText(at, count))
                return false;
            load();
            break;
        }
        case kNone:
            *top++ = Value::none();
            break;
        case kNewTrue:
            *top++ = Value::boolean(true);
            break;
        case kNewFalse:
            *top++ = Value::boolean(false);
            break;
        case kTuple2: {
            if (top - floor < 2)
                return underflow();
            const std::optional<Value> pair = m_heap.newTuple({ top - 2, 2 });
            if (!pair) {
                save();
                return heapFailed();
            }
            top[-2] = *pair;
            --top;
            break;
        }
        case kAppend:
            if (top - floor < 2)
                return underflow();
            if (!m_heap.append(top[-2], { top - 1, 1 })) {
                save();
                return heapFailed();
            }
            --top;
            break;
        case kSetItem:
            if (top - floor < 3)
                return underflow();
            if (!m_heap.setItems(top[-3], { top - 2, 2 }, {})) {
                save();
                return heapFailed();
            }
            top -= 2;
            break;
        case kAppends:
        case kAddItems:
        case kSetItems: {
            Value* const first = floor;
            std::size_t mark = 0;
            save();
            if (!popMark(mark))
                return false;
            floor = m_stack.data() + fence();
            if (first - floor < 1)
                return underflow();
            const std::span<const Value> items{ first, static_cast<std::size_t>(top - first) };
            if (*op != kSetItems) {
                if (!m_heap.append(first[-1], items))
                    return heapFailed();
                if (newRun != nullptr && op + 1 == newRun + m_frameRuns.candidate()) {
                    StackId stack;
                    if (m_heap.internFrameList(first[-1], stack))
                        m_frameRuns.add(newRun, stack);
                    newRun = nullptr;
                }
            } else {
                if (items.size() % 2 != 0)
                    return damaged(say("a dict gets a key without a value"));
                if (!m_heap.setItems(first[-1], items, homeOf(mark - 1)))
                    return heapFailed();
            }
            top = first;
            break;
        }
        case kFrame:
            at += 8;
            break;
        case kStop:
            save();
            return true;
        default:
            save();
            if (!readRare(*op, at))
                return false;
            load();
            break;
        }
    }
}

bool PickleReader::refill(const std::uint8_t*& at)
{
    if (m_heap.bytesUsed() + (m_stack.size() + m_memo.size()) * sizeof(Value) > m_memoryLimit) {
        m_error = Heap::tooLarge(m_memoryLimit);
        return false;
    }
    return more(at, ByteStream::kSlack) || m_stream.ended();
}

bool PickleReader::more(const std::uint8_t*& at, std::size_t count)
{
    const bool enough = m_stream.fill(at, count);
    at = m_stream.next();
    const auto bytes = static_cast<std::size_t>(m_stream.end() - at) + 1;
    m_stack.reserve(m_stack.size() + bytes);
    m_memo.reserve(m_memo.size() + bytes);
    return enough;
}

bool PickleReader::need(const std::uint8_t*& at, std::uint64_t count)
{
    if (static_cast<std::uint64_t>(m_stream.end() - at) >= count)
        return true;
    return more(at, static_cast<std::size_t>(count)) || tooShort();
}

bool PickleReader::popMark(std::size_t& first)
{
    if (m_marks.empty())
        return damaged(say("the pickle closes a list that it never opened"));
    first = static_cast<std::size_t>(m_marks[m_marks.size() - 1]);
    m_marks.setSize(m_marks.size() - 1);
    return true;
}

/// The list that an object on the stack will go to, if a mark stands between them.
Home PickleReader::homeOf(std::size_t object) const
{
    const std::size_t first = fence();
    if (first == 0)
        return {};
    return { m_stack[first - 1], object - first };
}

bool PickleReader::memoGet(std::uint64_t key)
{
    if (key < m_memo.size() && !m_memo[key].is(Value::Tag::Unset)) {
        m_stack.push_back(m_memo[key]);
        return true;
    }
    if (const auto far = m_farMemo.find(key); far != m_farMemo.end()) {
        m_stack.push_back(far->second);
        return true;
    }
    return damaged(say("the pickle refers to value %1, which it never stored", key));
}

bool PickleReader::memoPut(std::uint64_t key)
{
    if (!has(1))
        return damaged(say("the pickle stores a value when there is none"));
    const Value value = m_stack[m_stack.size() - 1];
    if (key < m_memo.size() + kFarMemo && key <= m_stream.offsetOf(m_stream.end())) {
        // Gaps are filled, but only so far that the memo stays in proportion to the file.
        m_memo.extendTo(
            std::max<std::size_t>(m_memo.size(), static_cast<std::size_t>(key) + 1), Value::unset());
        if (!m_memo[key].is(Value::Tag::Unset))
            forgetShapes();
        else
            m_memoCount += m_farMemo.erase(key) == 0 ? 1 : 0;
        m_memo[key] = value;
        m_memo.reserve(m_memo.size() + static_cast<std::size_t>(m_stream.end() - m_stream.next()) + 1);
    } else if (m_farMemo.insert_or_assign(key, value).second) {
        ++m_memoCount;
    } else {
        forgetShapes();
    }
    return true;
}

/// What was learned of how things are written no longer holds once a stored value is replaced.
void PickleReader::forgetShapes()
{
    m_frameRuns.clear();
    m_keyShapes.fill({});
}

bool PickleReader::damaged(Sentence what)
{
    m_error = Error{ Error::Kind::Format, say("%1, at %2", std::move(what), m_stream.nameOf(m_opAt)),
        say("the file is damaged; copy it again or record it again"), {} };
    return false;
}

bool PickleReader::tooShort()
{
    if (m_stream.error()) {
        m_error = *m_stream.error();
        return false;
    }
    m_error = Error{ Error::Kind::Format,
        say("the file ends at %1 in the middle of the pickle",
            m_stream.nameOf(m_stream.offsetOf(m_stream.end()))),
        say("the file is cut off: copy it again, or let the program that writes it finish"), {} };
    return false;
}

bool PickleReader::heapFailed()
{
    m_error = m_heap.error();
    m_error.what = say("%1, at %2", std::move(m_error.what), m_stream.nameOf(m_opAt));
    return false;
}

} // namespace strata::model
