// SPDX-License-Identifier: GPL-3.0-or-later
// The opcodes that snapshots of today hardly use: text forms of protocol 0, binary data, tuples, long texts.
#include "model/readers/pickle/opcodes.h"
#include "model/readers/pickle/pickle_reader.h"
#include "model/readers/pickle/text_forms.h"
#include "model/readers/source/little_endian.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace strata::model {

namespace {

using namespace pickle;

constexpr int kNewestProtocol = 5;
constexpr std::uint64_t kLongestText = std::uint64_t{ 1 } << 26;

std::uint64_t bigEndian64(const std::uint8_t* at)
{
    return __builtin_bswap64(littleEndian64(at));
}

} // namespace

bool PickleReader::readRare(std::uint8_t op, const std::uint8_t*& at)
{
    switch (op) {
    case kProto:
        m_protocol = *at++;
        if (m_protocol > kNewestProtocol)
            return damaged(say("pickle protocol %1 is newer than any that Strata knows (5)", m_protocol));
        return true;
    case kBinFloat:
        m_stack.push_back(m_heap.real(std::bit_cast<double>(bigEndian64(at))));
        at += 8;
        return true;
    case kBinUnicode:
    case kBinString: {
        const std::uint64_t count = littleEndian32(at);
        at += 4;
        return pushText(at, count);
    }
    case kBinUnicode8: {
        const std::uint64_t count = littleEndian64(at);
        at += 8;
        return pushText(at, count);
    }
    case kShortBinBytes: {
        const std::uint64_t count = *at++;
        return skipBytes(at, count);
    }
    case kBinBytes: {
        const std::uint64_t count = littleEndian32(at);
        at += 4;
        return skipBytes(at, count);
    }
    case kBinBytes8:
    case kByteArray8: {
        const std::uint64_t count = littleEndian64(at);
        at += 8;
        return skipBytes(at, count);
    }
    case kLong4: {
        const std::uint64_t count = littleEndian32(at);
        at += 4;
        if (count > INT32_MAX)
            return damaged(say("an integer has a negative length"));
        if (count > 9) {
            if (!skipBytes(at, count))
                return false;
            m_stack[m_stack.size() - 1] = Value::row(Value::Tag::HugeInt, 0);
            return true;
        }
        if (!need(at, count) || !pushLong(at, count))
            return false;
        at += count;
        return true;
    }
    case kEmptyTuple:
        m_stack.push_back(m_heap.newList());
        return true;
    case kTuple1:
    case kTuple3: {
        const std::size_t count = op == kTuple1 ? 1 : 3;
        if (!has(count))
            return damaged(say("the pickle takes more values from its stack than there are"));
        const std::size_t first = m_stack.size() - count;
        if (!mayDrop(first))
            return false;
        const std::optional<Value> tuple = m_heap.newTuple({ m_stack.data() + first, count });
        if (!tuple)
            return heapFailed();
        m_stack.setSize(first);
        m_stack.push_back(*tuple);
        return true;
    }
    case kTuple:
    case kList:
    case kFrozenSet:
    case kDict:
        return makeFromMark(op);
    case kDup:
        if (!has(1))
            return damaged(say("the pickle takes more values from its stack than there are"));
        m_stack.push_back(m_stack[m_stack.size() - 1]);
        return true;
    case kPop:
        if (!has(1)) {
            // As in Python: POP also takes away a MARK that nothing follows.
            std::size_t mark = 0;
            return popMark(mark);
        }
        if (!mayDrop(m_stack.size() - 1))
            return false;
        m_stack.setSize(m_stack.size() - 1);
        return true;
    case kPopMark: {
        std::size_t first = 0;
        if (!popMark(first) || !mayDrop(first))
            return false;
        m_stack.setSize(first);
        return true;
    }
    case kInt:
    case kLong:
    case kFloat:
    case kString:
    case kUnicode:
    case kGet:
    case kPut:
        return readTextForm(op, at);
    default:
        break;
    }
    if (const std::string_view name = nameOfCode(op); !name.empty()) {
        m_error = Error{ Error::Kind::Refused,
            say("this pickle wants to run code: opcode %1 at %2", name, m_stream.nameOf(m_opAt)),
            say("a memory snapshot holds data alone; record it with "
                "torch.cuda.memory._record_memory_history() and torch.cuda.memory._dump_snapshot()"),
            {} };
        return false;
    }
    return damaged(say("byte %1 is no pickle opcode", fmt::format("{:#04x}", op)));
}

/// An event that was made for the list below its mark must go there: see Home.
bool PickleReader::mayDrop(std::size_t first)
{
    for (std::size_t i = first; i < m_stack.size(); ++i) {
        if (m_heap.isWaitingEvent(m_stack[i])) {
            m_error = Error{ Error::Kind::Refused,
                say("an event is taken away from its list at %1", m_stream.nameOf(m_opAt)),
                say("no recorder writes this; write the snapshot again with pickle.dump"), {} };
            return false;
        }
    }
    return true;
}

bool PickleReader::makeFromMark(std::uint8_t op)
{
    std::size_t first = 0;
    if (!popMark(first) || !mayDrop(first))
        return false;
    const std::span<const Value> items{ m_stack.data() + first, m_stack.size() - first };
    Value made;
    if (op == kTuple) {
        const std::optional<Value> tuple = m_heap.newTuple(items);
        if (!tuple)
            return heapFailed();
        made = *tuple;
    } else if (op == kDict) {
        if (items.size() % 2 != 0)
            return damaged(say("a dict gets a key without a value"));
        made = m_heap.newDict();
        if (!m_heap.setItems(made, items, homeOf(first)))
            return heapFailed();
    } else {
        made = m_heap.newList();
        if (!m_heap.append(made, items))
            return heapFailed();
    }
    m_stack.setSize(first);
    m_stack.push_back(made);
    return true;
}

bool PickleReader::pushText(const std::uint8_t*& at, std::uint64_t count)
{
    if (count > kLongestText && count <= static_cast<std::uint64_t>(INT64_MAX)) {
        // A header that claims more than the file holds is a cut or damaged file, not a long text.
        if (!m_stream.skip(at, count))
            return tooShort();
        return damaged(say("a text of %1 bytes is longer than any in a snapshot", count));
    }
    if (count > kLongestText)
        return damaged(say("a text claims to have %1 bytes", count));
    if (!need(at, count))
        return false;
    m_stack.push_back(m_heap.text({ reinterpret_cast<const char*>(at), static_cast<std::size_t>(count) }));
    at += count;
    return true;
}

bool PickleReader::skipBytes(const std::uint8_t*& at, std::uint64_t count)
{
    const bool whole = m_stream.skip(at, count);
    at = m_stream.next();
    if (!whole)
        return tooShort();
    m_stack.push_back(Value::row(Value::Tag::Bytes, 0));
    return true;
}

/// Little-endian two's complement of 0 to 9 bytes; the ninth is the sign of an unsigned 64-bit address.
bool PickleReader::pushLong(const std::uint8_t* bytes, std::uint64_t count)
{
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, std::min<std::size_t>(static_cast<std::size_t>(count), sizeof bits));
    if (count <= 8) {
        const int unused = count == 0 ? 0 : 64 - 8 * static_cast<int>(count);
        m_stack.push_back(m_heap.integer(static_cast<std::int64_t>(bits << unused) >> unused));
    } else if (count == 9 && bytes[8] == 0) {
        m_stack.push_back(m_heap.unsignedInteger(bits));
    } else if (count == 9 && bytes[8] == 0xff && (bits >> 63) != 0) {
        m_stack.push_back(m_heap.integer(static_cast<std::int64_t>(bits)));
    } else {
        m_stack.push_back(Value::row(Value::Tag::HugeInt, 0));
    }
    return true;
}

bool PickleReader::readLine(const std::uint8_t*& at, std::string_view& line)
{
    std::size_t searched = 0;
    for (;;) {
        const auto have = static_cast<std::size_t>(m_stream.end() - at);
        const void* const newline
            = have > searched ? std::memchr(at + searched, '\n', have - searched) : nullptr;
        if (newline != nullptr) {
            const auto length = static_cast<std::size_t>(static_cast<const std::uint8_t*>(newline) - at);
            line = { reinterpret_cast<const char*>(at), length };
            at += length + 1;
            return true;
        }
        if (have > kLongestText)
            return damaged(say("a line is longer than any in a snapshot"));
        searched = have;
        if (!more(at, have + 1))
            return tooShort();
    }
}

bool PickleReader::readTextForm(std::uint8_t op, const std::uint8_t*& at)
{
    std::string_view line;
    if (!readLine(at, line))
        return false;
    if (!line.empty() && line.back() == '\r' && op != kUnicode)
        line.remove_suffix(1); // written on Windows in text mode
    switch (op) {
    case kString: {
        const std::optional<std::string> text = unquoteString(line);
        if (!text)
            return damaged(say("a text is not quoted as Python quotes it"));
        m_stack.push_back(m_heap.text(*text));
        return true;
    }
    case kUnicode: {
        const std::optional<std::string> text = unescapeUnicode(line);
        if (!text)
            return damaged(say("a text is not escaped as Python escapes it"));
        m_stack.push_back(m_heap.text(*text));
        return true;
    }
    case kFloat: {
        const std::optional<double> number = parseReal(line);
        if (!number)
            return damaged(say("a number is not written as Python writes it"));
        m_stack.push_back(m_heap.real(*number));
        return true;
    }
    default:
        return readNumberLine(op, line);
    }
}

bool PickleReader::readNumberLine(std::uint8_t op, std::string_view line)
{
    if (op == kInt && (line == "01" || line == "00")) {
        m_stack.push_back(Value::boolean(line == "01"));
        return true;
    }
    if (op == kLong && !line.empty() && line.back() == 'L')
        line.remove_suffix(1);
    const ParsedInteger number = parseInteger(line);
    if (number.kind == ParsedInteger::Kind::None)
        return damaged(say("a number is not written as Python writes it"));
    if (op == kGet || op == kPut) {
        if (number.kind != ParsedInteger::Kind::Unsigned)
            return damaged(say("a stored value has an impossible number"));
        return op == kGet ? memoGet(number.bits) : memoPut(number.bits);
    }
    switch (number.kind) {
    case ParsedInteger::Kind::Unsigned:
        m_stack.push_back(m_heap.unsignedInteger(number.bits));
        break;
    case ParsedInteger::Kind::Negative:
        m_stack.push_back(m_heap.integer(static_cast<std::int64_t>(number.bits)));
        break;
    default:
        m_stack.push_back(Value::row(Value::Tag::HugeInt, 0));
    }
    return true;
}

} // namespace strata::model
