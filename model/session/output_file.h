// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>

namespace strata::model {

/// A file that appears under its name only when it is whole: written beside it and renamed by commit(). Left
/// behind without commit(), it is removed. One thread.
class OutputFile {
public:
    [[nodiscard]] static Result<OutputFile> create(const std::filesystem::path& path);
    ~OutputFile();
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;

    /// Errors are kept and come out of commit().
    void write(std::span<const std::byte> bytes);
    [[nodiscard]] bool isGood() const { return m_error == 0; }
    [[nodiscard]] std::uint64_t offset() const { return m_offset; }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

    /// Flushes, syncs and renames; an error says what the system said, and the old file is still there.
    [[nodiscard]] Result<void> commit();

private:
    OutputFile(std::filesystem::path path, std::filesystem::path temporary, std::FILE* file);

    std::filesystem::path m_path, m_temporary;
    std::FILE* m_file = nullptr;
    std::uint64_t m_offset = 0;
    int m_error = 0; // errno of the first write that failed
};

} // namespace strata::model
