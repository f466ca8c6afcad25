// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/inject/injected_code.h"

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
