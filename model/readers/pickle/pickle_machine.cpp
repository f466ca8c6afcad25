// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/pickle/pickle_machine.h"

#include <utility>

namespace strata::model {

bool PickleMachine::refill(const std::uint8_t*& at)
{
    if (m_heap.bytesUsed() + (m_stack.size() + m_memo.size()) * sizeof(Value) > m_memoryLimit) {
        m_error = Heap::tooLarge(m_memoryLimit);
        return false;
    }
    return more(at, ByteStream::kSlack) || m_stream.ended();
}

bool PickleMachine::more(const std::uint8_t*& at, std::size_t count)
{
    const bool enough = m_stream.fill(at, count);
    at = m_stream.next();
    const auto bytes = static_cast<std::size_t>(m_stream.end() - at) + 1;
    m_stack.reserve(m_stack.size() + bytes);
    m_memo.reserve(m_memo.size() + bytes);
    return enough;
}

bool PickleMachine::need(const std::uint8_t*& at, std::uint64_t count)
{
    if (static_cast<std::uint64_t>(m_stream.end() - at) >= count)
        return true;
    return more(at, static_cast<std::size_t>(count)) || tooShort();
}

bool PickleMachine::popMark(std::size_t& first)
{
    if (m_marks.empty())
        return damaged(say("the pickle closes a list that it never opened"));
    first = static_cast<std::size_t>(m_marks[m_marks.size() - 1]);
    m_marks.setSize(m_marks.size() - 1);
    return true;
}

Home PickleMachine::homeOf(std::size_t object) const
{
    const std::size_t first = fence();
    if (first == 0)
        return {};
    return { m_stack[first - 1], object - first };
}

bool PickleMachine::memoGet(std::uint64_t key)
{
    const Value value = m_memo.find(key);
    if (value.is(Value::Tag::Unset))
        return damaged(say("the pickle refers to value %1, which it never stored", key));
    m_stack.push_back(value);
    return true;
}

bool PickleMachine::memoPut(std::uint64_t key)
{
    if (!has(1))
        return damaged(say("the pickle stores a value when there is none"));
    m_memo.store(key, m_stack[m_stack.size() - 1], key <= m_stream.offsetOf(m_stream.end()));
    m_memo.reserve(m_memo.size() + static_cast<std::size_t>(m_stream.end() - m_stream.next()) + 1);
    return true;
}

bool PickleMachine::damaged(Sentence what)
{
    m_error = Error{ Error::Kind::Format, say("%1, at %2", std::move(what), m_stream.nameOf(m_opAt)),
        say("the file is damaged; copy it again or record it again"), {} };
    return false;
}

bool PickleMachine::tooShort()
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

bool PickleMachine::heapFailed()
{
    m_error = m_heap.error();
    m_error.what = say("%1, at %2", std::move(m_error.what), m_stream.nameOf(m_opAt));
    return false;
}

} // namespace strata::model
