// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/live/memory_store.h"

#include <algorithm>

namespace strata::agent {

bool MemoryStore::add(std::span<const std::byte> chunk)
{
    auto kept = std::make_shared<const wire::Bytes>(chunk.begin(), chunk.end());
    const std::lock_guard lock(m_mutex);
    m_chunks.push_back(std::move(kept));
    m_bytes += chunk.size();
    return m_bytes > m_limit;
}

void MemoryStore::keep()
{
    while (true) {
        std::shared_ptr<const wire::Bytes> oldest;
        {
            const std::lock_guard lock(m_mutex);
            if (m_bytes <= m_limit || m_chunks.empty())
                return;
            oldest = std::move(m_chunks.front());
            m_chunks.pop_front();
            ++m_first;
            m_bytes -= oldest->size();
        }
        m_dropped.take(std::move(oldest));
    }
}

bool MemoryStore::seek(Cursor& cursor, std::uint32_t sequence)
{
    const std::lock_guard lock(m_mutex);
    if (sequence < m_first || sequence - m_first > m_chunks.size())
        return false;
    cursor = {};
    cursor.next = sequence;
    return true;
}

ChunkStore::Fetched MemoryStore::fetch(Cursor& cursor, std::size_t most, wire::Bytes& out)
{
    const std::size_t before = out.size();
    while (out.size() - before < most) {
        if (!cursor.held) {
            const std::lock_guard lock(m_mutex);
            if (cursor.next < m_first)
                return out.size() > before ? Fetched::Some : Fetched::Dropped;
            if (cursor.next - m_first >= m_chunks.size())
                return out.size() > before ? Fetched::Some : Fetched::NothingYet;
            cursor.held = m_chunks[cursor.next - m_first];
            cursor.offset = 0;
            ++cursor.next;
        }
        const std::span<const std::byte> rest = std::span(*cursor.held).subspan(cursor.offset);
        const auto part = rest.first(std::min(rest.size(), most - (out.size() - before)));
        out.insert(out.end(), part.begin(), part.end());
        cursor.offset += part.size();
        if (part.size() == rest.size())
            cursor.held.reset();
    }
    return Fetched::Some;
}

wire::Gap MemoryStore::startLate(Cursor& cursor)
{
    cursor = {};
    {
        const std::lock_guard lock(m_mutex);
        cursor.next = m_first; // until keep(), which this thread calls
    }
    auto bytes = std::make_shared<wire::Bytes>();
    wire::Gap gap = m_dropped.write(*bytes);
    gap.next = cursor.next;
    if (!bytes->empty())
        cursor.held = std::move(bytes);
    return gap;
}

} // namespace strata::agent
