// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/digest/outline.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace strata::model {

struct ReadLimits {
    /// Unpacked bytes of a compressed file above which it is refused; 0: half of this machine's RAM.
    std::uint64_t unpackedBytes = 0;
    bool force = false; ///< no such limit
};

class ByteSource;

/// A file that is opened once and read as deep as is asked for: its outline, or all. It may be a snapshot in
/// any form that PyTorch or its users write: pickle of protocols 0 to 5 (Python's and LibTorch's writer),
/// gzip of it, JSON of the same shape, PyTorch's memory_viz page with the snapshot inside; or Strata's own
/// session. The form is found from the content, never from the name. One thread.
class RecordingFile {
public:
    /// An error says why it cannot be opened.
    [[nodiscard]] static Result<RecordingFile> open(
        const std::filesystem::path& path, const ReadLimits& limits = {});
    /// Over memory that outlives it: for tests and fuzzers.
    RecordingFile(std::span<const std::byte> content, const ReadLimits& limits);
    RecordingFile(RecordingFile&&) noexcept;
    RecordingFile& operator=(RecordingFile&&) noexcept;
    ~RecordingFile();

    /// None where it is no session, or one whose digests are missing or not to be believed: not whole, of
    /// other events, in contradiction with the end state; and of a pipe, which can be read once. all() then
    /// says what there is. O(bytes of the file), with a hash's speed: events are checked, not read.
    [[nodiscard]] std::optional<SessionOutline> outline();

    /// Whether it is the trace of a profiler (JSON, packed or not), from its first bytes, before anything
    /// else is asked for.
    [[nodiscard]] bool isTrace();

    /// Memory is proportional to events, not to the file. A file that ends early or is damaged is read as far
    /// as it goes, if at least one event or segment was whole (Recording::truncation says where); anything
    /// else is an error that names file, byte offset and remedy.
    [[nodiscard]] Result<std::unique_ptr<Recording>> all(const Progress& progress = {});

    [[nodiscard]] int
    descriptor() const; ///< as of a ByteSource: it was opened once, and nobody needs to again

private:
    RecordingFile(std::unique_ptr<ByteSource> source, std::string path, const ReadLimits& limits);
    [[nodiscard]] bool begin(); // at the first byte; false: it was read and cannot be again

    std::unique_ptr<ByteSource> m_source;
    std::string m_path;
    ReadLimits m_limits;
    bool m_begun = false;
};

/// All of a file, or of memory.
[[nodiscard]] Result<std::unique_ptr<Recording>> readRecording(
    const std::filesystem::path& path, const ReadLimits& limits, const Progress& progress);
[[nodiscard]] Result<std::unique_ptr<Recording>> readRecording(
    std::span<const std::byte> content, const ReadLimits& limits, const Progress& progress);

} // namespace strata::model
