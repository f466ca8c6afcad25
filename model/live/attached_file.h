// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/base/sentence.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace strata::model {

/// The session file that a viewer makes of what it is sent, chunk by chunk: whatever ends it, what came until
/// then can be opened. While it grows it holds the lock of a recorder, by which others know that more comes.
/// One thread.
class AttachedFile {
public:
    /// The file must not be there.
    [[nodiscard]] static Result<AttachedFile> create(const std::filesystem::path& path);
    AttachedFile(AttachedFile&& other) noexcept;
    AttachedFile& operator=(AttachedFile&& other) noexcept;
    ~AttachedFile();

    /// Whole chunks. After an error the file ends before them.
    [[nodiscard]] Result<void> append(std::span<const std::byte> chunks);

    /// Says in the file why it ends here, where that is not the end of the recording: a sentence of its own,
    /// as Truncation has it.
    [[nodiscard]] Result<void> endEarly(const Sentence& why);

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] std::uint64_t bytes() const { return m_bytes; }

private:
    AttachedFile(std::filesystem::path path, int file)
        : m_path(std::move(path))
        , m_file(file)
    {
    }

    std::filesystem::path m_path;
    int m_file = -1;
    std::uint64_t m_bytes = 0;
    std::uint32_t m_chunks = 0; // sequence number of the next one
};

} // namespace strata::model
