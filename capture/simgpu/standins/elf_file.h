// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace strata::simgpu {

/// What the dynamic loader reads of a shared library or program, as far as stand-ins need it.
struct ElfFile {
    struct Symbol {
        std::string name;
        std::string version; ///< empty where the symbol has none
        std::string library; ///< SONAME that a version is asked of
    };

    std::string soname;
    std::string buildId; ///< in hexadecimal; empty where there is none
    std::string interpreter; ///< of programs
    std::vector<std::string> needed;
    std::vector<std::string> searchPath; ///< RPATH and RUNPATH, unexpanded
    std::vector<Symbol> undefined;
    std::vector<std::string> defined;
};

enum class ElfSymbols { LeaveOut, Read };

/// Reads a 64-bit x86-64 ELF file. The file may be anything: offsets and counts are checked; the error says
/// what is wrong. Symbols cost milliseconds in large libraries and can be left out.
tl::expected<ElfFile, std::string> readElf(const std::string& path, ElfSymbols symbols = ElfSymbols::Read);

} // namespace strata::simgpu
