// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/readers/source/byte_source.h"

#include <functional>
#include <optional>

namespace strata::model {

/// A source seen through one buffer of about a MiB. The reader keeps `next` in a register and gives it back
/// whenever it needs more: [next, end) is what is there, followed by kSlack zero bytes, so that fixed-size
/// arguments can be fetched before their presence is checked.
///
///     file  ...........|  consumed  |  next ....... end |000|
///                      ^ m_bufferAt
class ByteStream {
public:
    static constexpr std::size_t kPiece = std::size_t{ 1 } << 20;
    static constexpr std::size_t kSlack = 16;

    /// `eventsSoFar` is asked for each progress report.
    ByteStream(std::unique_ptr<ByteSource> source, const Progress& progress,
        std::function<std::int64_t()> eventsSoFar = {});

    [[nodiscard]] const std::uint8_t* next() const { return m_next; }
    [[nodiscard]] const std::uint8_t* end() const { return m_end; }

    /// Reads until at least `count` bytes follow `next`, or the end. Memory grows with the bytes that come,
    /// not with `count`. Moves the buffer: take next() and end() again. False if there are fewer.
    [[nodiscard]] bool fill(const std::uint8_t* next, std::size_t count);

    /// Passes over `count` bytes from `next` on. False if there are fewer.
    [[nodiscard]] bool skip(const std::uint8_t* next, std::uint64_t count);

    [[nodiscard]] std::uint64_t offsetOf(const std::uint8_t* at) const
    {
        return m_bufferAt + static_cast<std::uint64_t>(at - bufferStart());
    }
    /// No byte follows those in the buffer; error() says if that is because the source failed or the user
    /// cancelled.
    [[nodiscard]] bool ended() const { return m_ended; }
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    [[nodiscard]] Sentence nameOf(std::uint64_t offset) const { return m_source->nameOf(offset); }
    /// Everything from `next` on as a source of its own.
    [[nodiscard]] std::unique_ptr<ByteSource> rest(const std::uint8_t* next) &&;

private:
    [[nodiscard]] const std::uint8_t* bufferStart() const
    {
        return reinterpret_cast<const std::uint8_t*>(m_buffer.data());
    }
    void report();

    std::unique_ptr<ByteSource> m_source;
    const Progress& m_progress;
    std::function<std::int64_t()> m_eventsSoFar;
    std::vector<std::byte> m_buffer;
    const std::uint8_t* m_next;
    const std::uint8_t* m_end;
    std::uint64_t m_bufferAt = 0;
    std::uint64_t m_reportedAt = 0;
    bool m_ended = false;
    std::optional<Error> m_error;
};

} // namespace strata::model
