// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/live/file_store.h"

#include "model/wire/read_at.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace strata::agent {

FileStore::~FileStore()
{
    if (m_file >= 0)
        close(m_file);
}

bool FileStore::open(const std::string& path)
{
    m_file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return m_file >= 0;
}

bool FileStore::add(std::span<const std::byte> chunk)
{
    const std::uint64_t end = m_end.load(std::memory_order_relaxed);
    const std::uint32_t chunks = m_chunks.load(std::memory_order_relaxed);
    if (chunks % kStride == 0) {
        const std::lock_guard lock(m_mutex);
        m_offsets.push_back(end);
    }
    m_end.store(end + chunk.size(), std::memory_order_release);
    m_chunks.store(chunks + 1, std::memory_order_release);
    return false;
}

std::uint64_t FileStore::chunkAt(std::uint64_t offset) const
{
    std::array<std::byte, wire::kHeadBytes> bytes;
    wire::ChunkHead head;
    if (wire::readAt(m_file, offset, bytes) != bytes.size()
        || wire::readHead(bytes, head) != wire::ChunkStatus::Ok)
        return 0;
    return wire::kHeadBytes + head.storedBytes;
}

bool FileStore::seek(Cursor& cursor, std::uint32_t sequence)
{
    if (sequence > m_chunks.load(std::memory_order_acquire))
        return false;
    std::uint64_t offset = 0;
    std::uint32_t at = 0;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_offsets.empty()) {
            const std::size_t known = std::min<std::size_t>(sequence / kStride, m_offsets.size() - 1);
            offset = m_offsets[known];
            at = static_cast<std::uint32_t>(known) * kStride;
        }
    }
    for (; at < sequence; ++at) {
        const std::uint64_t bytes = chunkAt(offset);
        if (bytes == 0)
            return false;
        offset += bytes;
    }
    cursor = {};
    cursor.next = sequence;
    cursor.offset = offset;
    return true;
}

ChunkStore::Fetched FileStore::fetch(Cursor& cursor, std::size_t most, wire::Bytes& out)
{
    const std::uint64_t end = m_end.load(std::memory_order_acquire);
    if (cursor.offset >= end)
        return Fetched::NothingYet;
    const std::size_t before = out.size();
    const std::size_t wanted = std::min<std::uint64_t>(std::max(most, wire::kHeadBytes), end - cursor.offset);
    out.resize(before + wanted);
    const auto fresh = std::span(out).subspan(before);
    if (wire::readAt(m_file, cursor.offset, fresh) != wanted) {
        out.resize(before);
        return Fetched::Failed;
    }
    // Up to the last head that is there as a whole.
    std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(cursor.left, wanted));
    cursor.left -= taken;
    while (cursor.left == 0 && wanted - taken >= wire::kHeadBytes) {
        wire::ChunkHead head;
        if (wire::readHead(fresh.subspan(taken), head) != wire::ChunkStatus::Ok) {
            out.resize(before);
            return Fetched::Failed; // somebody else wrote into the file
        }
        const std::uint64_t bytes = wire::kHeadBytes + std::uint64_t{ head.storedBytes };
        const std::size_t here = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, wanted - taken));
        cursor.left = bytes - here;
        taken += here;
        ++cursor.next;
    }
    cursor.offset += taken;
    out.resize(before + taken);
    return Fetched::Some;
}

/// All of it is there.
wire::Gap FileStore::startLate(Cursor& cursor)
{
    (void)seek(cursor, 0);
    return {};
}

} // namespace strata::agent
