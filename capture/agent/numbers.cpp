// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/numbers.h"

namespace strata::agent {

namespace {

constexpr std::size_t kTextBytesAChunk = std::size_t{ 4 } << 20;

} // namespace

std::uint32_t Numbers::string(std::string_view text)
{
    if (const auto known = m_stringNumbers.find(text); known != m_stringNumbers.end())
        return known->second;
    const auto number = static_cast<std::uint32_t>(m_strings.size());
    m_stringNumbers.emplace(m_strings.emplace_back(text), number);
    return number;
}

std::uint32_t Numbers::frame(const wire::FrameRow& frame)
{
    const auto [known, isNew]
        = m_frameNumbers.try_emplace(frame, static_cast<std::uint32_t>(m_frameNumbers.size()));
    if (isNew)
        m_newFrames.push_back(frame);
    return known->second;
}

std::uint32_t Numbers::stack(std::span<const std::uint32_t> frames)
{
    m_newStacks.add(frames);
    return m_stacksWritten + static_cast<std::uint32_t>(m_newStacks.ends.size()) - 1;
}

std::uint32_t Numbers::stream(std::uint64_t stream)
{
    const auto [known, isNew]
        = m_streamNumbers.try_emplace(stream, static_cast<std::uint32_t>(m_streamNumbers.size()));
    if (isNew)
        m_newStreams.push_back(static_cast<std::int64_t>(stream));
    return known->second;
}

std::uint32_t Numbers::pool(const wire::PoolRow& pool)
{
    const auto [known, isNew] = m_poolNumbers.try_emplace(
        std::tuple(pool.owner, pool.id, pool.kind), static_cast<std::uint32_t>(m_poolNumbers.size()));
    if (isNew)
        m_newPools.push_back(pool);
    return known->second;
}

void Numbers::write(wire::ChunkWriter& writer)
{
    while (m_stringsWritten < m_strings.size()) {
        std::vector<std::string_view> texts;
        std::size_t bytes = 0;
        for (std::size_t i = m_stringsWritten; i < m_strings.size() && bytes < kTextBytesAChunk; ++i) {
            texts.push_back(m_strings[i]);
            bytes += m_strings[i].size();
        }
        writer.chunk(wire::ChunkType::Strings,
            [&](wire::Bytes& out) { wire::encodeStrings(m_stringsWritten, texts, out); });
        m_stringsWritten += static_cast<std::uint32_t>(texts.size());
    }
    const auto writeNew = [&](wire::ChunkType type, std::uint32_t& written, std::size_t count, auto encode) {
        if (count == 0)
            return;
        writer.chunk(type, encode);
        written += static_cast<std::uint32_t>(count);
    };
    writeNew(wire::ChunkType::Frames, m_framesWritten, m_newFrames.size(),
        [&](wire::Bytes& out) { wire::encodeFrames(m_framesWritten, m_newFrames, out); });
    writeNew(wire::ChunkType::Stacks, m_stacksWritten, m_newStacks.ends.size(),
        [&](wire::Bytes& out) { wire::encodeStacks(m_stacksWritten, m_newStacks, out); });
    writeNew(wire::ChunkType::Streams, m_streamsWritten, m_newStreams.size(),
        [&](wire::Bytes& out) { wire::encodeStreams(m_streamsWritten, m_newStreams, out); });
    writeNew(wire::ChunkType::Pools, m_poolsWritten, m_newPools.size(),
        [&](wire::Bytes& out) { wire::encodePools(m_poolsWritten, m_newPools, out); });
    m_newFrames.clear();
    m_newStacks = {};
    m_newStreams.clear();
    m_newPools.clear();
}

} // namespace strata::agent
