// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/stacks/stacks.h"

#include "model/wire/kinds.h"

#include <algorithm>
#include <bit>
#include <dlfcn.h>

namespace strata::agent {

namespace {

constexpr std::uint32_t kMostFrames = 256;

unsigned bitsOf(std::uint64_t count)
{
    return static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(count, 1)) - 1);
}

/// Half of the memory for the words of stacks, an eighth for the slots, the rest for code objects.
unsigned wordBits(std::uint64_t memory)
{
    return std::clamp(bitsOf(memory / 2 / sizeof(std::uint64_t)), 12u, 31u);
}
unsigned slotBits(std::uint64_t memory)
{
    return std::clamp(bitsOf(memory / 8 / sizeof(std::uint64_t)), 10u, 28u);
}

using UnwBacktrace = int (*)(void**, int);
UnwBacktrace g_unwBacktrace = nullptr;

/// glibc's backtrace() takes ten times as long. libunwind must not become global: it would replace libgcc's.
bool loadLibunwind()
{
    for (const char* name : { "libunwind.so.8", "libunwind.so.1" }) {
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
            g_unwBacktrace = reinterpret_cast<UnwBacktrace>(dlsym(library, "unw_backtrace"));
        if (g_unwBacktrace)
            return true;
    }
    return false;
}

std::uint32_t unwindByLibunwind(std::uint64_t* addresses, std::uint32_t most) noexcept
{
    static_assert(sizeof(void*) == sizeof(std::uint64_t));
    const int count = g_unwBacktrace(reinterpret_cast<void**>(addresses), static_cast<int>(most));
    return static_cast<std::uint32_t>(std::max(count, 0));
}

} // namespace

Stacks::Stacks(std::uint64_t memory)
    : m_sequences(wordBits(memory), slotBits(memory))
    , m_python(wordBits(memory / 4), slotBits(memory / 16))
{
}

/// The first stack of a thread may allocate and read files: here, not under a lock of the allocator.
/// libunwind remembers the way out of each frame for each thread, LibTorch's own looks it up under a lock.
bool Stacks::findUnwinder(Unwind unwind)
{
    std::uint64_t probe[kMostFrames];
    if (loadLibunwind() && unwindByLibunwind(probe, kMostFrames) > 0)
        m_unwind = unwindByLibunwind;
    else if (unwind && unwind(probe, kMostFrames) > 0)
        m_unwind = unwind;
    return m_unwind != nullptr;
}

void Stacks::use(StackKind wanted, Unwind unwind, std::string& why)
{
    constexpr const char* kNoUnwinder = "neither LibTorch nor libunwind (package libunwind8) unwinds them";
    const bool wantsPython = wanted == StackKind::Python || wanted == StackKind::PythonElseNative;
    const bool wantsNative = wanted == StackKind::Native || wanted == StackKind::PythonElseNative;
    std::string noPython;
    const bool python = wantsPython && m_python.recognise(noPython);
    const bool native = wantsNative && findUnwinder(unwind);
    m_kind.store(python && native ? StackKind::PythonElseNative
            : python              ? StackKind::Python
            : native              ? StackKind::Native
                                  : StackKind::None,
        std::memory_order_release);
    if (wantsNative && !native)
        why = std::string("stacks of C++ are not recorded: ") + kNoUnwinder;
    else if (wantsPython && !python && (!native || m_python.isHere()))
        why = std::string("stacks of Python are not recorded")
            + (native ? ", those of C++ are instead: " : ": ") + noPython;
}

std::uint32_t Stacks::gatherWords(std::uint64_t* words, StackKind& kind, std::uint64_t* module) noexcept
{
    const StackKind wanted = m_kind.load(std::memory_order_acquire);
    std::uint32_t count = 0;
    if (wanted == StackKind::Python || wanted == StackKind::PythonElseNative) {
        kind = StackKind::Python;
        count = m_python.isOn() ? m_python.gather(words, kMostFrames, module) : 0;
    }
    if (count == 0 && (wanted == StackKind::Native || wanted == StackKind::PythonElseNative)) {
        kind = StackKind::Native;
        count = m_unwind(words, kMostFrames);
    }
    return count;
}

Stacks::Taken Stacks::gather() noexcept
{
    std::uint64_t words[kMostFrames];
    Taken taken;
    if (const std::uint32_t count = gatherWords(words, taken.kind, nullptr); count > 0)
        taken.number = m_sequences.intern({ words, count });
    return taken;
}

Stacks::Taken Stacks::gatherWithModule(std::uint8_t phase, hook::AutogradNode node) noexcept
{
    std::uint64_t words[kMostFrames + 1];
    std::uint64_t module = 0;
    Taken taken;
    const std::uint32_t count = gatherWords(words, taken.kind, &module);
    if (node && m_python.readsLocals()) {
        const auto is = [&](wire::EventPhase which) { return phase == static_cast<std::uint8_t>(which); };
        const bool inForward = module != 0;
        if (!inForward && (is(wire::EventPhase::Backward) || is(wire::EventPhase::BackwardGradKeep)))
            module = m_modules.find(node(true));
        // Nodes that programs write themselves are made before a forward without gradients.
        const bool makesNodes = is(wire::EventPhase::Grad) || is(wire::EventPhase::NoGrad)
            || is(wire::EventPhase::BackwardGrad) || is(wire::EventPhase::BackwardGradKeep);
        if (makesNodes || (inForward && is(wire::EventPhase::Backward)))
            m_modules.put(node(false), module);
    }
    if (module != 0) {
        words[count] = module | kModule;
        const std::span<const std::uint64_t> whole(words, count + 1);
        // Modules made anew in each step, each at another address, must not take the room of stacks.
        taken.number = m_sequences.isHalfFull() ? m_sequences.find(whole) : m_sequences.intern(whole);
    }
    if (taken.number == 0 && count > 0)
        taken.number = m_sequences.intern({ words, count });
    return taken;
}

} // namespace strata::agent
