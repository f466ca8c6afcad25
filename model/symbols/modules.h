// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace strata::model {

/// A place in the source.
struct SourcePlace {
    std::string file, function; ///< function: demangled; empty: not known
    std::int64_t line = 0; ///< 0 not known
};

/// Programs and shared libraries on this machine, asked for the source of places in them. Debug information
/// is looked for in them, beside them and below /usr/lib/debug. One thread.
class Modules {
public:
    Modules();
    ~Modules();
    Modules(const Modules&) = delete;
    Modules& operator=(const Modules&) = delete;

    /// The function `offset` bytes behind where `path` was loaded, after those that the compiler put inside
    /// of it there: innermost first, each with where it is at. Empty where that file is gone, has another
    /// build id, or says nothing.
    [[nodiscard]] std::vector<SourcePlace> find(
        const std::string& path, const std::string& buildId, std::uint64_t offset);

private:
    struct Module;

    std::map<std::string, std::unique_ptr<Module>> m_modules; // by path
};

} // namespace strata::model
