// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/python_frames.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <string_view>

namespace strata::agent {

namespace {

/// Where CPython 3.11 keeps what is read, in bytes from the begin of each struct (64 bits).
struct Layout311 {
    static constexpr std::size_t kThreadCframe = 56, kCframeFrame = 8;
    static constexpr std::size_t kFrameCode = 32, kFramePrevious = 48, kFrameInstruction = 56,
                                 kFrameOwner = 69;
    static constexpr std::uint8_t kOwnedByGenerator = 1;
    static constexpr std::size_t kCodeFirstLine = 72, kCodeFile = 112, kCodeName = 120, kCodeLines = 136,
                                 kCodeFirstTraceable = 168, kCodeInstructions = 184;
    static constexpr std::size_t kUnicodeLength = 16, kUnicodeState = 32, kUnicodeAscii = 48,
                                 kUnicodeOther = 72;
    static constexpr std::size_t kBytesLength = 16, kBytesData = 32;
};
using Layout = Layout311;
constexpr std::string_view kVersion = "3.11.";

template <class T> T at(const char* object, std::size_t offset)
{
    T value;
    std::memcpy(&value, object + offset, sizeof value);
    return value;
}
const char* pointerAt(const char* object, std::size_t offset)
{
    return at<const char*>(object, offset);
}

/// Room for a copy: file and function as UTF-8, cut where they are longer, and the table of lines.
constexpr std::size_t kTextRoom = 1024;
constexpr std::size_t kTableRoom = 32'768;

std::size_t appendUtf8(std::uint32_t code, char* out)
{
    if (code < 0x80) {
        out[0] = static_cast<char>(code);
        return 1;
    }
    std::size_t count = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    constexpr std::uint8_t kLead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (std::size_t i = count - 1; i > 0; --i, code >>= 6)
        out[i] = static_cast<char>(0x80 | (code & 0x3f));
    out[0] = static_cast<char>(kLead[count] | code);
    return count;
}

/// A str object as UTF-8; how many bytes.
std::size_t copyText(const char* object, char* out)
{
    const auto length = static_cast<std::size_t>(at<std::int64_t>(object, Layout::kUnicodeLength));
    const auto state = at<std::uint32_t>(object, Layout::kUnicodeState);
    const std::uint32_t kind = state >> 2 & 7;
    const bool compact = state >> 5 & 1;
    const bool ascii = state >> 6 & 1;
    if (!compact)
        return 0;
    const char* data = object + (ascii ? Layout::kUnicodeAscii : Layout::kUnicodeOther);
    std::size_t used = 0;
    for (std::size_t i = 0; i < length && used + 4 <= kTextRoom; ++i) {
        const std::uint32_t code = kind == 1 ? at<std::uint8_t>(data, i)
            : kind == 2                      ? at<std::uint16_t>(data, 2 * i)
                                             : at<std::uint32_t>(data, 4 * i);
        used += appendUtf8(code, out + used);
    }
    return used;
}

/// What tells two code objects at one address apart.
struct Identity {
    std::uint64_t code, file, name, lines;
    std::uint64_t firstLine;
};

Identity identityOf(const char* code)
{
    return { reinterpret_cast<std::uintptr_t>(code), at<std::uint64_t>(code, Layout::kCodeFile),
        at<std::uint64_t>(code, Layout::kCodeName), at<std::uint64_t>(code, Layout::kCodeLines),
        static_cast<std::uint64_t>(at<std::int32_t>(code, Layout::kCodeFirstLine)) };
}

/// A copy, as words: identity, lengths of file, name and table in bytes, then these bytes.
constexpr std::size_t kIdentityWords = sizeof(Identity) / 8;
constexpr std::size_t kHeadWords = kIdentityWords + 1;
constexpr std::size_t kCopyWords = kHeadWords + (2 * kTextRoom + kTableRoom + 7) / 8;

std::uint64_t packLengths(std::size_t file, std::size_t name, std::size_t table)
{
    return std::uint64_t{ file } | std::uint64_t{ name } << 16 | std::uint64_t{ table } << 32;
}

/// The table of lines of PEP 657: entries of code units, each with a line as a difference.
class LineTable {
public:
    explicit LineTable(std::string_view bytes)
        : m_bytes(bytes)
    {
    }

    std::int64_t lineAt(std::int64_t unit, std::int64_t firstLine)
    {
        std::int64_t line = firstLine;
        std::int64_t end = 0;
        while (m_at < m_bytes.size()) {
            const std::uint8_t head = next();
            const unsigned form = head >> 3 & 15;
            end += (head & 7) + 1;
            bool known = true;
            if (form == 15)
                known = false;
            else if (form == 14 || form == 13)
                line += difference();
            else if (form >= 10)
                line += form - 10;
            while (m_at < m_bytes.size() && (static_cast<std::uint8_t>(m_bytes[m_at]) & 0x80) == 0)
                ++m_at; // columns
            if (unit < end)
                return known ? line : 0;
        }
        return 0;
    }

private:
    std::uint8_t next() { return m_at < m_bytes.size() ? static_cast<std::uint8_t>(m_bytes[m_at++]) : 0; }
    std::int64_t difference()
    {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 60; shift += 6) {
            const std::uint8_t byte = next();
            value |= std::uint64_t{ byte & 63u } << shift;
            if ((byte & 64) == 0)
                break;
        }
        const auto half = static_cast<std::int64_t>(value >> 1);
        return (value & 1) != 0 ? -half : half;
    }

    std::string_view m_bytes;
    std::size_t m_at = 0;
};

} // namespace

PythonFrames::PythonFrames(unsigned wordBits, unsigned slotBits)
    : m_codes(wordBits, slotBits)
    , m_knownMemory(sizeof(Known) << kKnownBits)
    , m_known(m_knownMemory.as<Known>())
{
}

bool PythonFrames::recognise(std::string& why)
{
    const auto version = reinterpret_cast<const char* (*)()>(dlsym(RTLD_DEFAULT, "Py_GetVersion"));
    m_threadState = reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
    if (!version || !m_threadState) {
        why = "this process runs no Python";
        return false;
    }
    const std::string_view text = version();
    if (!text.starts_with(kVersion)) {
        why = "frames of Python " + std::string(text.substr(0, text.find(' ')))
            + " are not read yet, those of 3.11 are";
        return false;
    }
    if (!m_codes.usable() || !m_known) {
        why = "the system gave no memory for them";
        return false;
    }
    return true;
}

bool PythonFrames::check(const std::string& expected)
{
    if (!m_threadState)
        return false;
    std::array<std::uint64_t, 256> words;
    const std::uint32_t count = gather(words.data(), static_cast<std::uint32_t>(words.size()));
    std::string read;
    for (std::uint32_t i = 0; i < count; ++i) {
        const PythonPlace place = describe(words[i]);
        read += place.file + '\t' + place.function + '\t' + std::to_string(place.line) + '\n';
    }
    return count > 0 && read == expected;
}

std::uint32_t PythonFrames::codeNumber(const char* code) noexcept
{
    const Identity identity = identityOf(code);
    const std::uint64_t hash = identity.code * 0x9e3779b97f4a7c15u >> (64 - kKnownBits);
    Known& known = m_known[hash];
    if (const std::uint32_t number = known.load(std::memory_order_acquire); number != SequenceTable::kFull) {
        if (std::memcmp(m_codes[number].data(), &identity, sizeof identity) == 0)
            return number;
    }
    const std::uint32_t number = copyCode(code);
    if (number != SequenceTable::kFull)
        known.store(number, std::memory_order_release);
    return number;
}

std::uint32_t PythonFrames::copyCode(const char* code) noexcept
{
    // Tens of KiB of stack, once for each code object.
    std::array<std::uint64_t, kCopyWords> words;
    const Identity identity = identityOf(code);
    std::memcpy(words.data(), &identity, sizeof identity);
    char* const bytes = reinterpret_cast<char*>(words.data() + kHeadWords);
    const std::size_t file = copyText(pointerAt(code, Layout::kCodeFile), bytes);
    const std::size_t name = copyText(pointerAt(code, Layout::kCodeName), bytes + file);
    const char* table = pointerAt(code, Layout::kCodeLines);
    const auto tableBytes
        = std::min(static_cast<std::size_t>(at<std::int64_t>(table, Layout::kBytesLength)), kTableRoom);
    std::memcpy(bytes + file + name, table + Layout::kBytesData, tableBytes);
    words[kIdentityWords] = packLengths(file, name, tableBytes);
    const std::size_t all = file + name + tableBytes;
    std::memset(bytes + all, 0, -all & 7);
    return m_codes.intern({ words.data(), kHeadWords + (all + 7) / 8 });
}

std::uint32_t PythonFrames::gather(std::uint64_t* words, std::uint32_t most) noexcept
{
    const auto* thread = static_cast<const char*>(m_threadState());
    if (!thread)
        return 0;
    const char* frame = pointerAt(pointerAt(thread, Layout::kThreadCframe), Layout::kCframeFrame);
    std::uint32_t count = 0;
    for (; frame && count < most; frame = pointerAt(frame, Layout::kFramePrevious)) {
        const char* code = pointerAt(frame, Layout::kFrameCode);
        if (!code)
            continue;
        const char* instruction = pointerAt(frame, Layout::kFrameInstruction);
        const std::int64_t unit = (instruction - (code + Layout::kCodeInstructions)) / 2;
        // A frame that has not begun yet is none, for Python too.
        if (at<std::uint8_t>(frame, Layout::kFrameOwner) != Layout::kOwnedByGenerator
            && unit < at<std::int32_t>(code, Layout::kCodeFirstTraceable))
            continue;
        words[count++] = std::uint64_t{ codeNumber(code) } << 32
            | static_cast<std::uint32_t>(std::max<std::int64_t>(unit, 0));
    }
    return count;
}

PythonPlace PythonFrames::describe(std::uint64_t word) const
{
    const auto number = static_cast<std::uint32_t>(word >> 32);
    if (number == SequenceTable::kFull)
        return { "??", "??", 0 };
    const std::span<const std::uint64_t> words = m_codes[number];
    const std::uint64_t lengths = words[kIdentityWords];
    const std::size_t file = lengths & 0xffff, name = lengths >> 16 & 0xffff, table = lengths >> 32;
    const char* bytes = reinterpret_cast<const char*>(words.data() + kHeadWords);
    LineTable lines({ bytes + file + name, table });
    return { std::string(bytes, file), std::string(bytes + file, name),
        lines.lineAt(
            static_cast<std::uint32_t>(word), static_cast<std::int64_t>(words[kIdentityWords - 1])) };
}

} // namespace strata::agent
