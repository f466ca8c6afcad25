// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/chunk_writer.h"
#include "model/wire/tables.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace strata::agent {

/// The tables of a session: numbers for strings, frames, stacks, streams and pools, and the rows that the
/// stream does not have yet. write() must come before anything that refers to them. One thread. O(1) a row.
class Numbers {
public:
    [[nodiscard]] std::uint32_t string(std::string_view text);
    [[nodiscard]] std::uint32_t frame(const wire::FrameRow& frame);
    /// Frames innermost first. Equal stacks may get two numbers: who has a cheaper key should keep its own.
    [[nodiscard]] std::uint32_t stack(std::span<const std::uint32_t> frames);
    [[nodiscard]] std::uint32_t stream(std::uint64_t stream);
    [[nodiscard]] std::uint32_t pool(const wire::PoolRow& pool);

    void write(wire::ChunkWriter& writer);

private:
    struct FrameHash {
        std::size_t operator()(const wire::FrameRow& frame) const
        {
            std::uint64_t hash = (std::uint64_t{ frame.file } << 32 | frame.function) * 0x9e3779b97f4a7c15u;
            hash ^= static_cast<std::uint64_t>(frame.line) * 0xff51afd7ed558ccdu + frame.extras;
            return hash ^ hash >> 31;
        }
    };

    std::deque<std::string> m_strings; // stay where they are: the map's keys point into them
    std::unordered_map<std::string_view, std::uint32_t> m_stringNumbers;
    std::unordered_map<wire::FrameRow, std::uint32_t, FrameHash> m_frameNumbers;
    std::unordered_map<std::uint64_t, std::uint32_t> m_streamNumbers;
    std::map<std::tuple<std::int64_t, std::int64_t, wire::PoolKind>, std::uint32_t> m_poolNumbers;

    std::vector<wire::FrameRow> m_newFrames;
    wire::StackRows m_newStacks;
    std::vector<std::int64_t> m_newStreams;
    std::vector<wire::PoolRow> m_newPools;
    std::uint32_t m_stringsWritten = 0, m_framesWritten = 0, m_stacksWritten = 0, m_streamsWritten = 0,
                  m_poolsWritten = 0;
};

} // namespace strata::agent
