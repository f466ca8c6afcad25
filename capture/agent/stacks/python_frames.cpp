// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/stacks/python_frames.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <string_view>

namespace strata::agent {

namespace {

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
std::size_t copyText(const PythonLayout& layout, const char* object, char* out)
{
    const auto length = static_cast<std::size_t>(at<std::int64_t>(object, PythonLayout::kTextLength));
    const auto state = at<std::uint32_t>(object, PythonLayout::kTextState);
    const std::uint32_t kind = state >> 2 & 7;
    const bool compact = state >> 5 & 1;
    const bool ascii = state >> 6 & 1;
    if (!compact)
        return 0;
    const char* data = object + (ascii ? layout.textAscii : layout.textOther);
    std::size_t used = 0;
    for (std::size_t i = 0; i < length && used + 4 <= kTextRoom; ++i) {
        const std::uint32_t code = kind == 1 ? at<std::uint8_t>(data, i)
            : kind == 2                      ? at<std::uint16_t>(data, 2 * i)
                                             : at<std::uint32_t>(data, 4 * i);
        used += appendUtf8(code, out + used);
    }
    return used;
}

/// Since 3.14 the lowest bits of a reference say who counts it.
const char* codeOf(const char* frame, const PythonLayout& layout)
{
    constexpr std::uintptr_t kReferenceTag = 3;
    return reinterpret_cast<const char*>(at<std::uintptr_t>(frame, layout.frameCode) & ~kReferenceTag);
}

/// The first argument, or local variable.
std::uint64_t localOf(const char* frame, const PythonLayout& layout)
{
    constexpr std::uint64_t kReferenceTag = 3;
    return at<std::uint64_t>(frame, layout.frameLocals) & ~kReferenceTag;
}

/// What tells two code objects at one address apart.
struct Identity {
    std::uint64_t code, file, name, lines;
    std::uint64_t firstLine;
};

Identity identityOf(const PythonLayout& layout, const char* code)
{
    return { reinterpret_cast<std::uintptr_t>(code), at<std::uint64_t>(code, layout.codeFile),
        at<std::uint64_t>(code, layout.codeName), at<std::uint64_t>(code, layout.codeLines),
        static_cast<std::uint64_t>(at<std::int32_t>(code, layout.codeFirstLine)) };
}

/// A copy, as words: identity, lengths of file, name and table in bytes, then these bytes.
constexpr std::size_t kIdentityWords = sizeof(Identity) / 8;
constexpr std::size_t kHeadWords = kIdentityWords + 1;
constexpr std::size_t kCopyWords = kHeadWords + (2 * kTextRoom + kTableRoom + 7) / 8;

std::uint64_t packLengths(std::size_t file, std::size_t name, std::size_t table)
{
    return std::uint64_t{ file } | std::uint64_t{ name } << 16 | std::uint64_t{ table } << 32;
}

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
        m_threadState = nullptr;
        why = "this process runs no Python";
        return false;
    }
    const std::string_view text = version();
    m_layout = pythonLayout(text);
    if (!m_layout) {
        why = "frames of Python " + std::string(text.substr(0, text.find('(')))
            + "are not known, those of 3.10 to 3.14 with the global lock are";
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
    if (!m_threadState || !m_layout)
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
    const Identity identity = identityOf(*m_layout, code);
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
    const PythonLayout& layout = *m_layout;
    // Tens of KiB of stack, once for each code object.
    std::array<std::uint64_t, kCopyWords> words;
    const Identity identity = identityOf(*m_layout, code);
    std::memcpy(words.data(), &identity, sizeof identity);
    char* const bytes = reinterpret_cast<char*>(words.data() + kHeadWords);
    const std::size_t file = copyText(layout, pointerAt(code, layout.codeFile), bytes);
    const std::size_t name = copyText(layout, pointerAt(code, layout.codeName), bytes + file);
    const char* table = pointerAt(code, layout.codeLines);
    const auto tableBytes
        = std::min(static_cast<std::size_t>(at<std::int64_t>(table, PythonLayout::kBytesLength)), kTableRoom);
    std::memcpy(bytes + file + name, table + PythonLayout::kBytesData, tableBytes);
    words[kIdentityWords] = packLengths(file, name, tableBytes);
    const std::size_t all = file + name + tableBytes;
    std::memset(bytes + all, 0, -all & 7);
    const std::uint32_t number = m_codes.intern({ words.data(), kHeadWords + (all + 7) / 8 });
    if (std::string_view(bytes + file, name) == "_wrapped_call_impl"
        && std::string_view(bytes, file).ends_with("torch/nn/modules/module.py"))
        for (auto& known : m_moduleCalls)
            if (std::uint32_t none = SequenceTable::kFull;
                known.compare_exchange_strong(none, number) || none == number)
                break;
    return number;
}

bool PythonFrames::isModuleCall(std::uint32_t code) const noexcept
{
    for (const auto& known : m_moduleCalls) {
        const std::uint32_t number = known.load(std::memory_order_relaxed);
        if (number == SequenceTable::kFull)
            return false;
        if (number == code)
            return true;
    }
    return false;
}

/// nullptr: the thread runs no Python.
const char* PythonFrames::innermost() const noexcept
{
    const auto* thread = static_cast<const char*>(m_threadState());
    if (!thread)
        return nullptr;
    const char* const frame = pointerAt(thread, m_layout->threadFrame);
    return m_layout->frameFromThat != PythonLayout::kNone ? pointerAt(frame, m_layout->frameFromThat) : frame;
}

bool PythonFrames::checkLocals(std::uint64_t first)
{
    const char* frame = m_threadState && m_layout ? innermost() : nullptr;
    const PythonLayout& layout = *m_layout;
    while (frame && layout.ownedByC != 0 && layout.frameOwner != PythonLayout::kNone
        && at<std::uint8_t>(frame, layout.frameOwner) >= layout.ownedByC)
        frame = pointerAt(frame, layout.framePrevious);
    return frame && localOf(frame, layout) == first;
}

std::uint32_t PythonFrames::gather(std::uint64_t* words, std::uint32_t most, std::uint64_t* module) noexcept
{
    const PythonLayout& layout = *m_layout;
    const char* frame = innermost();
    bool wanted = module && m_readsLocals.load(std::memory_order_relaxed);
    std::uint32_t count = 0;
    for (; frame && count < most; frame = pointerAt(frame, layout.framePrevious)) {
        const std::uint8_t owner
            = layout.frameOwner == PythonLayout::kNone ? 0 : at<std::uint8_t>(frame, layout.frameOwner);
        const char* code = codeOf(frame, layout);
        if (!code || (layout.ownedByC != 0 && owner >= layout.ownedByC))
            continue;
        std::int64_t unit = 0;
        if (layout.countsUnits) {
            unit = at<std::int32_t>(frame, layout.frameInstruction);
        } else {
            unit = (pointerAt(frame, layout.frameInstruction) - (code + layout.codeInstructions)) / 2;
            // A frame that has not begun yet is none, for Python too.
            if (owner != PythonLayout::kOwnedByGenerator
                && unit < at<std::int32_t>(code, layout.codeFirstTraceable))
                continue;
        }
        const std::uint32_t number = codeNumber(code);
        if (wanted && isModuleCall(number)) {
            *module = localOf(frame, layout);
            wanted = false;
        }
        words[count++] = std::uint64_t{ number } << 32
            | static_cast<std::uint32_t>(std::max<std::int64_t>(unit, layout.countsUnits ? -1 : 0));
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
    const std::int64_t line = pythonLine(m_layout->lines, { bytes + file + name, table },
        static_cast<std::int32_t>(word), static_cast<std::int64_t>(words[kIdentityWords - 1]));
    return { std::string(bytes, file), std::string(bytes + file, name), line };
}

} // namespace strata::agent
