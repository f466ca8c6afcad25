// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/pickle/rare_opcodes.h"

#include "model/readers/pickle/opcodes.h"
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

bool RareOpcodes::run(std::uint8_t op, const std::uint8_t*& at)
{
    switch (op) {
    case kProto:
        m_protocol = *at++;
        if (m_protocol > kNewestProtocol)
            return m_machine.damaged(
                say("pickle protocol %1 is newer than any that Strata knows (5)", m_protocol));
        return true;
    case kBinFloat:
        m_machine.push(m_machine.heap().real(std::bit_cast<double>(bigEndian64(at))));
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
            return m_machine.damaged(say("an integer has a negative length"));
        if (count > 9) {
            if (!skipBytes(at, count))
                return false;
            m_machine.stack()[m_machine.stack().size() - 1] = Value::row(Value::Tag::HugeInt, 0);
            return true;
        }
        if (!m_machine.need(at, count) || !pushLong(at, count))
            return false;
        at += count;
        return true;
    }
    case kEmptyTuple:
        m_machine.push(m_machine.heap().newList());
        return true;
    case kTuple1:
    case kTuple3: {
        const std::size_t count = op == kTuple1 ? 1 : 3;
        if (!m_machine.has(count))
            return m_machine.damaged(say("the pickle takes more values from its stack than there are"));
        const std::size_t first = m_machine.stack().size() - count;
        if (!mayDrop(first))
            return false;
        const std::optional<Value> tuple
            = m_machine.heap().newTuple({ m_machine.stack().data() + first, count });
        if (!tuple)
            return m_machine.heapFailed();
        m_machine.stack().setSize(first);
        m_machine.push(*tuple);
        return true;
    }
    case kTuple:
    case kList:
    case kFrozenSet:
    case kDict:
        return makeFromMark(op);
    case kDup:
        if (!m_machine.has(1))
            return m_machine.damaged(say("the pickle takes more values from its stack than there are"));
        m_machine.push(m_machine.stack()[m_machine.stack().size() - 1]);
        return true;
    case kPop:
        if (!m_machine.has(1)) {
            // As in Python: POP also takes away a MARK that nothing follows.
            std::size_t mark = 0;
            return m_machine.popMark(mark);
        }
        if (!mayDrop(m_machine.stack().size() - 1))
            return false;
        m_machine.stack().setSize(m_machine.stack().size() - 1);
        return true;
    case kPopMark: {
        std::size_t first = 0;
        if (!m_machine.popMark(first) || !mayDrop(first))
            return false;
        m_machine.stack().setSize(first);
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
        return m_machine.fail({ Error::Kind::Refused,
            say("this pickle wants to run code: opcode %1 at %2", name,
                m_machine.stream().nameOf(m_machine.opcodeAt())),
            say("a memory snapshot holds data alone; record it with "
                "torch.cuda.memory._record_memory_history() and torch.cuda.memory._dump_snapshot()"),
            {} });
    }
    return m_machine.damaged(say("byte %1 is no pickle opcode", fmt::format("{:#04x}", op)));
}

/// An event that was made for the list below its mark must go there: see Home.
bool RareOpcodes::mayDrop(std::size_t first)
{
    for (std::size_t i = first; i < m_machine.stack().size(); ++i) {
        if (m_machine.heap().isWaitingEvent(m_machine.stack()[i])) {
            return m_machine.fail({ Error::Kind::Refused,
                say("an event is taken away from its list at %1",
                    m_machine.stream().nameOf(m_machine.opcodeAt())),
                say("no recorder writes this; write the snapshot again with pickle.dump"), {} });
        }
    }
    return true;
}

bool RareOpcodes::makeFromMark(std::uint8_t op)
{
    std::size_t first = 0;
    if (!m_machine.popMark(first) || !mayDrop(first))
        return false;
    const std::span<const Value> items{ m_machine.stack().data() + first, m_machine.stack().size() - first };
    Value made;
    if (op == kTuple) {
        const std::optional<Value> tuple = m_machine.heap().newTuple(items);
        if (!tuple)
            return m_machine.heapFailed();
        made = *tuple;
    } else if (op == kDict) {
        if (items.size() % 2 != 0)
            return m_machine.damaged(say("a dict gets a key without a value"));
        made = m_machine.heap().newDict();
        if (!m_machine.heap().setItems(made, items, m_machine.homeOf(first)))
            return m_machine.heapFailed();
    } else {
        made = m_machine.heap().newList();
        if (!m_machine.heap().append(made, items))
            return m_machine.heapFailed();
    }
    m_machine.stack().setSize(first);
    m_machine.push(made);
    return true;
}

bool RareOpcodes::pushText(const std::uint8_t*& at, std::uint64_t count)
{
    if (count > kLongestText && count <= static_cast<std::uint64_t>(INT64_MAX)) {
        // A header that claims more than the file holds is a cut or damaged file, not a long text.
        if (!m_machine.stream().skip(at, count))
            return m_machine.tooShort();
        return m_machine.damaged(say("a text of %1 bytes is longer than any in a snapshot", count));
    }
    if (count > kLongestText)
        return m_machine.damaged(say("a text claims to have %1 bytes", count));
    if (!m_machine.need(at, count))
        return false;
    m_machine.push(
        m_machine.heap().text({ reinterpret_cast<const char*>(at), static_cast<std::size_t>(count) }));
    at += count;
    return true;
}

bool RareOpcodes::skipBytes(const std::uint8_t*& at, std::uint64_t count)
{
    const bool whole = m_machine.stream().skip(at, count);
    at = m_machine.stream().next();
    if (!whole)
        return m_machine.tooShort();
    m_machine.push(Value::row(Value::Tag::Bytes, 0));
    return true;
}

/// Little-endian two's complement of 0 to 9 bytes; the ninth is the sign of an unsigned 64-bit address.
bool RareOpcodes::pushLong(const std::uint8_t* bytes, std::uint64_t count)
{
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes, std::min<std::size_t>(static_cast<std::size_t>(count), sizeof bits));
    if (count <= 8) {
        const int unused = count == 0 ? 0 : 64 - 8 * static_cast<int>(count);
        m_machine.push(m_machine.heap().integer(static_cast<std::int64_t>(bits << unused) >> unused));
    } else if (count == 9 && bytes[8] == 0) {
        m_machine.push(m_machine.heap().unsignedInteger(bits));
    } else if (count == 9 && bytes[8] == 0xff && (bits >> 63) != 0) {
        m_machine.push(m_machine.heap().integer(static_cast<std::int64_t>(bits)));
    } else {
        m_machine.push(Value::row(Value::Tag::HugeInt, 0));
    }
    return true;
}

bool RareOpcodes::readLine(const std::uint8_t*& at, std::string_view& line)
{
    std::size_t searched = 0;
    for (;;) {
        const auto have = static_cast<std::size_t>(m_machine.stream().end() - at);
        const void* const newline
            = have > searched ? std::memchr(at + searched, '\n', have - searched) : nullptr;
        if (newline != nullptr) {
            const auto length = static_cast<std::size_t>(static_cast<const std::uint8_t*>(newline) - at);
            line = { reinterpret_cast<const char*>(at), length };
            at += length + 1;
            return true;
        }
        if (have > kLongestText)
            return m_machine.damaged(say("a line is longer than any in a snapshot"));
        searched = have;
        if (!m_machine.more(at, have + 1))
            return m_machine.tooShort();
    }
}

bool RareOpcodes::readTextForm(std::uint8_t op, const std::uint8_t*& at)
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
            return m_machine.damaged(say("a text is not quoted as Python quotes it"));
        m_machine.push(m_machine.heap().text(*text));
        return true;
    }
    case kUnicode: {
        const std::optional<std::string> text = unescapeUnicode(line);
        if (!text)
            return m_machine.damaged(say("a text is not escaped as Python escapes it"));
        m_machine.push(m_machine.heap().text(*text));
        return true;
    }
    case kFloat: {
        const std::optional<double> number = parseReal(line);
        if (!number)
            return m_machine.damaged(say("a number is not written as Python writes it"));
        m_machine.push(m_machine.heap().real(*number));
        return true;
    }
    default:
        return readNumberLine(op, line);
    }
}

bool RareOpcodes::readNumberLine(std::uint8_t op, std::string_view line)
{
    if (op == kInt && (line == "01" || line == "00")) {
        m_machine.push(Value::boolean(line == "01"));
        return true;
    }
    if (op == kLong && !line.empty() && line.back() == 'L')
        line.remove_suffix(1);
    const ParsedInteger number = parseInteger(line);
    if (number.kind == ParsedInteger::Kind::None)
        return m_machine.damaged(say("a number is not written as Python writes it"));
    if (op == kGet || op == kPut) {
        if (number.kind != ParsedInteger::Kind::Unsigned)
            return m_machine.damaged(say("a stored value has an impossible number"));
        return op == kGet ? m_machine.memoGet(number.bits) : m_machine.memoPut(number.bits);
    }
    switch (number.kind) {
    case ParsedInteger::Kind::Unsigned:
        m_machine.push(m_machine.heap().unsignedInteger(number.bits));
        break;
    case ParsedInteger::Kind::Negative:
        m_machine.push(m_machine.heap().integer(static_cast<std::int64_t>(number.bits)));
        break;
    default:
        m_machine.push(Value::row(Value::Tag::HugeInt, 0));
    }
    return true;
}

} // namespace strata::model
