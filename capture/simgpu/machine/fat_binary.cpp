// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/fat_binary.h"

#include <algorithm>
#include <cstring>

namespace strata::simgpu {

namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::uint16_t kAssembly = 1;
constexpr std::uint16_t kMachineCode = 2;
constexpr int kMaxEntries = 256;

struct Wrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const unsigned char* data;
    void* unused;
};

struct Header {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t headerBytes;
    std::uint64_t bytes;
};

struct EntryHeader {
    std::uint16_t kind;
    std::uint16_t version;
    std::uint32_t headerBytes;
    std::uint64_t bytes;
    std::uint32_t compressedBytes;
    std::uint32_t optionsOffset;
    std::uint16_t minor;
    std::uint16_t major;
    std::uint32_t capability;
};
static_assert(sizeof(Header) == 16 && sizeof(EntryHeader) == 32);

template <class T> T read(const unsigned char* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

int newestUpTo(const std::vector<int>& capabilities, int lowest, int highest)
{
    int best = 0;
    for (const int capability : capabilities) {
        if (capability >= lowest && capability <= highest)
            best = std::max(best, capability);
    }
    return best;
}

} // namespace

CompiledFor readFatBinary(const void* wrapper)
{
    CompiledFor compiled;
    if (!wrapper)
        return compiled;
    const auto outer = read<Wrapper>(static_cast<const unsigned char*>(wrapper));
    if (outer.magic != kWrapperMagic || !outer.data)
        return compiled;
    const auto header = read<Header>(outer.data);
    if (header.magic != kMagic || header.headerBytes < sizeof(Header))
        return compiled;
    const unsigned char* at = outer.data + header.headerBytes;
    const unsigned char* const end = at + header.bytes;
    for (int i = 0; i < kMaxEntries && at + sizeof(EntryHeader) <= end; ++i) {
        const auto entry = read<EntryHeader>(at);
        if (entry.headerBytes < sizeof(EntryHeader))
            break;
        if (entry.kind == kMachineCode)
            compiled.machineCode.push_back(static_cast<int>(entry.capability));
        else if (entry.kind == kAssembly)
            compiled.assembly.push_back(static_cast<int>(entry.capability));
        at += entry.headerBytes + entry.bytes;
    }
    return compiled;
}

LoadedCode chooseCode(const CompiledFor& compiled, int computeMajor, int computeMinor)
{
    const int device = computeMajor * 10 + computeMinor;
    if (const int code = newestUpTo(compiled.machineCode, computeMajor * 10, device))
        return { code, code };
    if (const int code = newestUpTo(compiled.assembly, 0, device))
        return { device, code };
    return {};
}

void* KernelRegistry::addBinary(const void* wrapper)
{
    const std::lock_guard lock(m_mutex);
    m_binaries.push_back(wrapper);
    return reinterpret_cast<void*>(m_binaries.size());
}

void KernelRegistry::addKernel(const void* binary, const void* kernel, const char* name)
{
    const std::lock_guard lock(m_mutex);
    m_kernels.push_back(
        { kernel, name, static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(binary)) });
}

const KernelRegistry::Entry* KernelRegistry::find(const void* kernel)
{
    const auto before = [](const Entry& a, const Entry& b) { return a.kernel < b.kernel; };
    if (m_sorted != m_kernels.size()) {
        std::sort(m_kernels.begin(), m_kernels.end(), before);
        m_sorted = m_kernels.size();
    }
    const auto found
        = std::lower_bound(m_kernels.begin(), m_kernels.end(), Entry{ kernel, nullptr, 0 }, before);
    return found == m_kernels.end() || found->kernel != kernel ? nullptr : &*found;
}

const char* KernelRegistry::nameOf(const void* kernel)
{
    const std::lock_guard lock(m_mutex);
    const Entry* found = find(kernel);
    return found ? found->name : nullptr;
}

CompiledFor KernelRegistry::compiledFor(const void* kernel)
{
    const std::lock_guard lock(m_mutex);
    const Entry* found = find(kernel);
    if (!found || found->binary == 0 || found->binary > m_binaries.size())
        return {};
    const auto known = m_read.find(found->binary);
    if (known != m_read.end())
        return known->second;
    return m_read.emplace(found->binary, readFatBinary(m_binaries[found->binary - 1])).first->second;
}

} // namespace strata::simgpu
