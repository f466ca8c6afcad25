// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/inject/injected_code.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#if defined(__x86_64__)

// Behind the instructions lie eight words, in the order of `words` below. On entry the stack is as a call
// leaves it, 8 bytes off; the three pushes and the mask make it what calls want. The two arguments are kept,
// which is more than the function has.
asm(R"(
    .pushsection .rodata.strataInjectedCode, "a", @progbits
    .balign 16
strataInjectedCode:
    endbr64
    pushq %rbp
    movq %rsp, %rbp
    pushq %rdi
    pushq %rsi
    andq $-16, %rsp
    movq 32 + strataInjectedCodeEnd(%rip), %rax
    movl $1, %ecx
    xchgq %rcx, (%rax)
    testq %rcx, %rcx
    jnz 2f
    movq 40 + strataInjectedCodeEnd(%rip), %rdi
    movl $2, %esi
    callq *strataInjectedCodeEnd(%rip)
    testq %rax, %rax
    jz 1f
    movq %rax, %rdi
    movq 48 + strataInjectedCodeEnd(%rip), %rsi
    callq *8 + strataInjectedCodeEnd(%rip)
    testq %rax, %rax
    jz 1f
    movq 56 + strataInjectedCodeEnd(%rip), %rdi
    movq 24 + strataInjectedCodeEnd(%rip), %rsi
    callq *%rax
    jmp 2f
1:
    callq *16 + strataInjectedCodeEnd(%rip)
    movq 32 + strataInjectedCodeEnd(%rip), %rcx
    movq %rax, 8(%rcx)
    movq $2, (%rcx)
2:
    leaq -16(%rbp), %rsp
    popq %rsi
    popq %rdi
    popq %rbp
    jmpq *24 + strataInjectedCodeEnd(%rip)
    .balign 8
strataInjectedCodeEnd:
    .popsection
)");

extern "C" {
extern const char codeBegin[] asm("strataInjectedCode");
extern const char codeEnd[] asm("strataInjectedCodeEnd");
}

#endif

namespace strata::launch {

namespace {

constexpr std::size_t kWords = 8;

std::string_view instructions()
{
#if defined(__x86_64__)
    return { codeBegin, static_cast<std::size_t>(codeEnd - codeBegin) };
#else
    return {}; // checkInjection() refuses before
#endif
}

} // namespace

std::size_t codeBytes(const InjectedCode& code)
{
    return instructions().size() + kWords * sizeof(std::uint64_t) + code.library.size() + code.entry.size()
        + code.meeting.size() + 3;
}

std::size_t instructionBytes()
{
    return instructions().size();
}

std::optional<EarlierCode> findEarlierCode(
    std::span<const std::byte> memory, std::uint64_t address, const InjectedCode& code)
{
    const std::size_t size = codeBytes(code);
    const std::size_t words = instructions().size(), texts = words + kWords * sizeof(std::uint64_t);
    const auto alike = makeCode(code, 0);
    const auto same = [&](const std::byte* there, std::size_t from, std::size_t until) {
        return std::memcmp(there + from, alike.data() + from, until - from) == 0;
    };
    for (std::size_t place = (16 - address % 16) % 16; place + size <= memory.size(); place += 16) {
        const std::byte* const there = memory.data() + place;
        constexpr std::size_t kFunctions = 3 * sizeof(std::uint64_t);
        if (!same(there, 0, words + kFunctions) || !same(there, texts, size - code.meeting.size() - 1)
            || there[size - 1] != std::byte{})
            continue;
        EarlierCode earlier{ address + place };
        std::memcpy(&earlier.asked, there + words + kFunctions, sizeof earlier.asked);
        std::memcpy(&earlier.state, there + words + kFunctions + sizeof earlier.asked, sizeof earlier.state);
        return earlier;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> findZeros(
    std::span<const std::byte> memory, std::uint64_t address, std::size_t bytes)
{
    const auto used
        = std::find_if(memory.rbegin(), memory.rend(), [](std::byte byte) { return byte != std::byte{}; });
    // One of them may end what stands there.
    const std::uint64_t begin
        = (address + static_cast<std::uint64_t>(memory.rend() - used) + 1 + 15) & ~std::uint64_t{ 15 };
    return begin + bytes <= address + memory.size() ? std::optional(begin) : std::nullopt;
}

std::vector<std::byte> makeCode(const InjectedCode& code, std::uint64_t address)
{
    const std::string_view text = instructions();
    const std::uint64_t library = address + text.size() + kWords * sizeof(std::uint64_t);
    const std::uint64_t entry = library + code.library.size() + 1;
    const std::uint64_t meeting = entry + code.entry.size() + 1;
    const std::uint64_t words[kWords]{ code.loadLibrary, code.findSymbol, code.lastError, code.asked,
        code.state, library, entry, meeting };
    std::vector<std::byte> bytes;
    const auto add = [&](const void* from, std::size_t size) {
        const auto* const begin = static_cast<const std::byte*>(from);
        bytes.insert(bytes.end(), begin, begin + size);
    };
    add(text.data(), text.size());
    add(words, sizeof words);
    for (const std::string* each : { &code.library, &code.entry, &code.meeting })
        add(each->c_str(), each->size() + 1);
    return bytes;
}

} // namespace strata::launch
