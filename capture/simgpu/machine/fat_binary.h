// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace strata::simgpu {

/// What a program's device code was compiled for, as far as the choice of the code to load needs it.
struct CompiledFor {
    std::vector<int> machineCode; ///< capabilities as major * 10 + minor
    std::vector<int> assembly; ///< the same of PTX
};

/// Reads the headers of a fat binary as the compiler embeds it (the argument of __cudaRegisterFatBinary).
/// Anything that is not one gives an empty answer.
CompiledFor readFatBinary(const void* wrapper);

/// The code a device loads: machine code of its own major version that is not newer than the device, else PTX
/// that is not newer, else nothing (0, 0). `binary` is the capability of the code that runs, `assembly` that
/// of the PTX.
struct LoadedCode {
    int binary = 0;
    int assembly = 0;
};
LoadedCode chooseCode(const CompiledFor& compiled, int computeMajor, int computeMinor);

/// Which kernel came with which fat binary, and its name, which stays the program's. Registration is cheap: a
/// library of thousands of kernels registers them all when it is loaded; headers are read when a kernel is
/// asked about. Thread-safe.
class KernelRegistry {
public:
    void* addBinary(const void* wrapper);
    void addKernel(const void* binary, const void* kernel, const char* name);
    /// Empty for a kernel that nobody registered.
    CompiledFor compiledFor(const void* kernel);
    /// As the compiler mangled it; nullptr for a kernel that nobody registered.
    const char* nameOf(const void* kernel);

    /// Held around fork(), so that a child never inherits a held lock.
    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

private:
    struct Entry {
        const void* kernel;
        const char* name;
        std::uint32_t binary;
    };

    const Entry* find(const void* kernel);

    std::mutex m_mutex;
    std::vector<const void*> m_binaries;
    std::vector<Entry> m_kernels;
    std::size_t m_sorted = 0;
    std::unordered_map<std::uint32_t, CompiledFor> m_read;
};

} // namespace strata::simgpu
