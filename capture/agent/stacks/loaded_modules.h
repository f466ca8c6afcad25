// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct dl_phdr_info;

namespace strata::agent {

/// Where an address lies, as the dynamic loader knows it.
struct CodePlace {
    std::string file; ///< of the library or program; empty: in none
    std::string function; ///< exported, mangled; empty: none
    std::string buildId; ///< hexadecimal; empty: it has none
    std::uint64_t base = 0; ///< where the file's first byte is mapped
};

/// Finds code by its address like dladdr(), which looks at every symbol of a library for each address: with
/// LibTorch's that is milliseconds. Here the symbols of a library are sorted when its first address comes; 16
/// bytes each. What the loader has mapped is only read while it cannot be unmapped. One thread.
class LoadedModules {
public:
    [[nodiscard]] CodePlace find(std::uint64_t address);
    /// The file alone, without a look at symbols.
    [[nodiscard]] std::string fileOf(std::uint64_t address);

private:
    struct Symbol {
        std::uint64_t address; // behind the bias
        std::uint32_t bytes;
        std::uint32_t name; // in the table of strings
    };
    struct Module {
        std::string file;
        const char* strings = nullptr;
        std::vector<Symbol> symbols; // by address
    };
    struct Search;

    static int lookAt(dl_phdr_info* info, std::size_t, void* search);
    Module& moduleOf(const dl_phdr_info& info, const std::string& file);
    static void readSymbols(const dl_phdr_info& info, Module& module);

    std::map<std::uint64_t, Module> m_modules; // by bias
};

} // namespace strata::agent
