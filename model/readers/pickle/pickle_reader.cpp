// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/pickle/pickle_reader.h"

#include "model/readers/pickle/opcodes.h"
#include "model/readers/source/little_endian.h"

#include <algorithm>

namespace strata::model {

namespace {

using namespace pickle;

} // namespace

PickleReader::PickleReader(ByteStream& stream, Heap& heap, std::uint64_t memoryLimit)
    : m_machine(stream, heap, memoryLimit)
    , m_rare(m_machine)
    , m_eventDict(stream, heap, m_machine.memo(), m_frameRuns)
{
}

Result<Value> PickleReader::run()
{
    if (!runLoop())
        return Failure(m_machine.error());
    const GrowArray<Value>& stack = m_machine.stack();
    if (stack.size() != 1 || !m_machine.marks().empty()) {
        m_machine.damaged(say("the pickle stops with %1 values on its stack instead of one", stack.size()));
        return Failure(m_machine.error());
    }
    if (!m_machine.heap().traces().allTaken()) {
        return Failure(Error{ Error::Kind::Refused, say("an event was made and then left out of its list"),
            say("no recorder writes this; write the snapshot again with pickle.dump"), {} });
    }
    return stack[0];
}

/// The loop keeps the read position and the top of the stack in registers. Every opcode is at least a byte
/// and pushes at most one value, so refill() makes room on stack and memo for all that the buffer can push,
/// and the loop needs no checks for it.
bool PickleReader::runLoop()
{
    ByteStream& stream = m_machine.stream();
    Heap& heap = m_machine.heap();
    PickleMemo& memo = m_machine.memo();
    GrowArray<Value>& stack = m_machine.stack();
    const std::uint8_t* at = stream.next();
    const std::uint8_t* op = at;
    Value* top = stack.data();
    Value* floor = top;
    const std::uint8_t* newRun = nullptr; // a stack that is written in a way not seen before
    const auto save = [&] {
        stack.setSize(static_cast<std::size_t>(top - stack.data()));
        m_machine.setOpcodeAt(stream.offsetOf(op));
    };
    const auto load = [&] {
        top = stack.data() + stack.size();
        floor = stack.data() + m_machine.fence();
    };
    const auto underflow = [&] {
        save();
        return m_machine.damaged(say("the pickle takes more values from its stack than there are"));
    };

    for (;;) {
        if (stream.end() - at < static_cast<std::ptrdiff_t>(ByteStream::kSlack)) [[unlikely]] {
            op = at;
            save();
            newRun = nullptr;
            if (!stream.ended() && !m_machine.refill(at))
                return false;
            load();
            if (at == stream.end() || static_cast<std::size_t>(stream.end() - at) < 1 + argumentBytes(*at))
                return m_machine.tooShort();
        }
        op = at;
        switch (*at++) {
        case kBinGet: {
            const std::size_t key = *at++;
            if (key >= memo.size() || memo[key].is(Value::Tag::Unset)) [[unlikely]] {
                save();
                return m_machine.memoGet(key);
            }
            *top++ = memo[key];
            break;
        }
        case kLongBinGet: {
            const std::size_t key = littleEndian32(at);
            at += 4;
            if (key >= memo.size() || memo[key].is(Value::Tag::Unset)) [[unlikely]] {
                save();
                if (!m_machine.memoGet(key))
                    return false;
                load();
                break;
            }
            *top++ = memo[key];
            break;
        }
        case kMemoize:
            if (top == floor)
                return underflow();
            if (memo.countIsNext()) [[likely]] {
                memo.storeNext(top[-1]);
            } else {
                save();
                if (!m_machine.memoPut(memo.count()))
                    return false;
                forgetReplaced();
            }
            break;
        case kBinPut:
        case kLongBinPut: {
            const std::uint64_t key = *op == kBinPut ? at[0] : littleEndian32(at);
            at += *op == kBinPut ? 1 : 4;
            if (top == floor)
                return underflow();
            if (memo.isNext(key)) [[likely]] {
                memo.storeNext(top[-1]);
            } else {
                save();
                if (!m_machine.memoPut(key))
                    return false;
                forgetReplaced();
            }
            break;
        }
        case kMark:
            if ((*at == kBinGet || *at == kLongBinGet) && top > floor) {
                const std::uint8_t* key = at;
                if (heap.isEmptyList(top[-1])) {
                    const FrameRuns::Hit hit = m_frameRuns.find(at, stream.end());
                    if (hit.length > 0) {
                        heap.setStack(top[-1], hit.stack);
                        at += hit.length;
                        break;
                    }
                    newRun = m_frameRuns.candidate() > 0 ? at : nullptr;
                } else if (isText(memo.peekGet(key), Known::ActionName) && memo.countIsNext()
                    && heap.isEmptyDict(top[-1])) {
                    save();
                    const EventDict::Outcome event
                        = m_eventDict.read(at, top[-1], m_machine.homeOf(stack.size() - 1));
                    if (event == EventDict::Outcome::Failed)
                        return m_machine.heapFailed();
                    if (event == EventDict::Outcome::Read)
                        break;
                    m_machine.mark(stack.size());
                    floor = top;
                    top = m_eventDict.pushMembers(top);
                    break;
                }
            }
            m_machine.mark(static_cast<std::size_t>(top - stack.data()));
            floor = top;
            break;
        case kEmptyDict:
            *top++ = heap.newDict();
            break;
        case kEmptyList:
        case kEmptySet:
            *top++ = heap.newList();
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
            if (count > 0 && count <= 8 && stream.end() - at >= 8) [[likely]] {
                const int unused = 64 - 8 * count;
                *top++ = heap.integer(static_cast<std::int64_t>(littleEndian64(at) << unused) >> unused);
                at += count;
                break;
            }
            save();
            if (!m_machine.need(at, count) || !m_rare.pushLong(at, count))
                return false;
            at += count;
            load();
            break;
        }
        case kShortBinUnicode:
        case kShortBinString: {
            const std::size_t count = *at++;
            if (static_cast<std::size_t>(stream.end() - at) >= count) [[likely]] {
                *top++ = heap.text({ reinterpret_cast<const char*>(at), count });
                at += count;
                break;
            }
            save();
            if (!m_rare.pushText(at, count))
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
            const std::optional<Value> pair = heap.newTuple({ top - 2, 2 });
            if (!pair) {
                save();
                return m_machine.heapFailed();
            }
            top[-2] = *pair;
            --top;
            break;
        }
        case kAppend:
            if (top - floor < 2)
                return underflow();
            if (!heap.append(top[-2], { top - 1, 1 })) {
                save();
                return m_machine.heapFailed();
            }
            --top;
            break;
        case kSetItem:
            if (top - floor < 3)
                return underflow();
            if (!heap.setItems(top[-3], { top - 2, 2 }, {})) {
                save();
                return m_machine.heapFailed();
            }
            top -= 2;
            break;
        case kAppends:
        case kAddItems:
        case kSetItems: {
            Value* const first = floor;
            std::size_t mark = 0;
            save();
            if (!m_machine.popMark(mark))
                return false;
            floor = stack.data() + m_machine.fence();
            if (first - floor < 1)
                return underflow();
            const std::span<const Value> items{ first, static_cast<std::size_t>(top - first) };
            if (*op != kSetItems) {
                if (!heap.append(first[-1], items))
                    return m_machine.heapFailed();
                if (newRun != nullptr && op + 1 == newRun + m_frameRuns.candidate()) {
                    StackId known;
                    if (heap.internFrameList(first[-1], known))
                        m_frameRuns.add(newRun, known);
                    newRun = nullptr;
                }
            } else {
                if (items.size() % 2 != 0)
                    return m_machine.damaged(say("a dict gets a key without a value"));
                if (!heap.setItems(first[-1], items, m_machine.homeOf(mark - 1)))
                    return m_machine.heapFailed();
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
            if (!m_rare.run(*op, at))
                return false;
            forgetReplaced();
            load();
            break;
        }
    }
}

/// What was learned of how things are written no longer holds once a stored value is replaced.
void PickleReader::forgetReplaced()
{
    if (!m_machine.memo().takeReplaced())
        return;
    m_frameRuns.clear();
    m_eventDict.forget();
}

} // namespace strata::model
