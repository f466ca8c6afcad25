// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace strata::test {

/// A directory of its own, gone at the end.
class TemporaryDirectory {
public:
    TemporaryDirectory()
    {
        std::string pattern = std::filesystem::temp_directory_path() / "strata-test-XXXXXX";
        if (!mkdtemp(pattern.data()))
            ADD_FAILURE() << "no temporary directory";
        m_path = pattern;
    }
    ~TemporaryDirectory()
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Writes a file, with the directories above it, and gives its path.
    std::string file(const std::string& name, const std::string& content) const
    {
        const std::filesystem::path path = m_path / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << content;
        return path;
    }

private:
    std::filesystem::path m_path;
};

[[nodiscard]] inline std::string contentOf(const std::filesystem::path& path)
{
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

} // namespace strata::test
