// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// Bytes in order, read in pieces: never mapped, since mapped pages count as memory. One thread.
class ByteSource {
public:
    virtual ~ByteSource() = default;

    /// Fills up to `into.size()` bytes; 0 is the end. An error is final.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<std::byte> into) = 0;

    /// Passes over `count` bytes; returns how many there were. Costs a seek where the source can seek.
    [[nodiscard]] virtual Result<std::uint64_t> skip(std::uint64_t count);

    /// Back to the first byte, after errors too. False where that cannot be: a pipe is read once.
    [[nodiscard]] virtual bool rewind() { return false; }

    /// Bytes taken from the file itself so far, for progress, and its size (0: unknown).
    [[nodiscard]] virtual std::uint64_t fileBytesDone() const = 0;
    [[nodiscard]] virtual std::uint64_t fileBytesTotal() const = 0;

    /// A regular file's, for others to look at places of it (pread); -1: it is none. It lives as long as the source.
    [[nodiscard]] virtual int descriptor() const { return -1; }

    /// What a byte is called: "byte 17", "byte 17 of the unpacked file".
    [[nodiscard]] virtual Sentence nameOf(std::uint64_t offset) const { return say("byte %1", offset); }
};

/// A regular file, pipe or device; a directory, a missing or unreadable file are told apart in words.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> openFile(const std::filesystem::path& path);

/// Memory that outlives the source.
[[nodiscard]] std::unique_ptr<ByteSource> memorySource(std::span<const std::byte> content);

/// `head`, then the rest of `tail`: puts back what was read to see what a file is.
[[nodiscard]] std::unique_ptr<ByteSource> prefixedSource(
    std::vector<std::byte> head, std::unique_ptr<ByteSource> tail);

/// gzip, members one after the other; refuses to unpack more than `limit` bytes.
[[nodiscard]] std::unique_ptr<ByteSource> gzipSource(std::unique_ptr<ByteSource> packed, std::uint64_t limit);

/// UTF-16 as UTF-8, without its byte-order mark; what is no character becomes U+FFFD.
[[nodiscard]] std::unique_ptr<ByteSource> utf16Source(std::unique_ptr<ByteSource> text, bool bigEndian);

/// base64 up to the first character that is not of it; white space is passed over.
[[nodiscard]] std::unique_ptr<ByteSource> base64Source(std::unique_ptr<ByteSource> text);

} // namespace strata::model
