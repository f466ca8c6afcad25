// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace strata::hook {

/// A whole file; nothing where it cannot be read.
[[nodiscard]] inline std::optional<std::string> readFile(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file || file.tellg() < 0)
        return std::nullopt;
    std::string text(static_cast<std::size_t>(file.tellg()), '\0');
    file.seekg(0);
    if (!file.read(text.data(), static_cast<std::streamsize>(text.size())))
        return std::nullopt;
    return text;
}

} // namespace strata::hook
