// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"
#include "model/wire/link/link_chunks.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// Takes apart what a process sends over a live link, which may be anything: bytes in, one item at a time
/// out. What is damaged ends it for good, and problem() says why. Holds one chunk, never more than what is
/// announced and plausible. One thread; no calls of the system.
class LinkReader {
public:
    enum class Item : std::uint8_t {
        None, ///< feed() more
        Greeting, ///< first; at most once
        Refusal, ///< first; nothing follows
        Totals,
        Gap,
        Chunk, ///< of the session, whole and with the right hash; of its content nothing is known
        Broken,
    };

    void feed(std::span<const std::byte> bytes);
    /// The next item; what it is of stays until the next call.
    [[nodiscard]] Item next();

    [[nodiscard]] const wire::Greeting& greeting() const { return m_greeting; }
    [[nodiscard]] const wire::Refusal& refusal() const { return m_refusal; }
    [[nodiscard]] const wire::Totals& totals() const { return m_totals; } ///< the latest
    [[nodiscard]] const wire::Gap& gap() const { return m_gap; }
    [[nodiscard]] const wire::ChunkHead& head() const { return m_head; }
    [[nodiscard]] std::span<const std::byte> chunk() const { return m_chunk; } ///< head and payload
    /// The chunk stands for earlier ones, behind a gap: its number means nothing.
    [[nodiscard]] bool isState() const { return m_isState; }
    /// How many chunks of the recording the viewer has then, or has been told are not to be had.
    [[nodiscard]] std::uint32_t chunksSoFar() const { return m_next; }
    [[nodiscard]] const Sentence& problem() const { return m_problem; }

private:
    [[nodiscard]] Item broken(Sentence why);
    [[nodiscard]] std::optional<Item> step();
    [[nodiscard]] std::optional<Item> takeLinkChunk();
    [[nodiscard]] Item takeChunk();

    std::vector<std::byte> m_bytes;
    std::size_t m_taken = 0; // of m_bytes
    wire::ChunkHead m_head;
    std::span<const std::byte> m_chunk;
    wire::Bytes m_payload; // kept for its memory
    wire::Greeting m_greeting;
    wire::Refusal m_refusal;
    wire::Totals m_totals;
    wire::Gap m_gap;
    bool m_greeted = false, m_refused = false, m_broken = false, m_isState = false;
    std::uint32_t m_next = 0, m_statesLeft = 0;
    Sentence m_problem;
};

} // namespace strata::model
