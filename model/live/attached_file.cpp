// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/attached_file.h"

#include "model/base/words.h"
#include "model/wire/chunk.h"
#include "model/wire/info.h"
#include "model/wire/tables.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace strata::model {

Result<AttachedFile> AttachedFile::create(const std::filesystem::path& path)
{
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0)
        return fail(Error::Kind::Usage,
            errno == EEXIST ? say("%1: is there already", path.string())
                            : say("%1: %2", path.string(), std::strerror(errno)),
            say("name another file"));
    struct flock lock { };
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    [[maybe_unused]] const int ignored = fcntl(file, F_OFD_SETLK, &lock); // some file systems have none
    return AttachedFile(path, file);
}

AttachedFile::AttachedFile(AttachedFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_file(std::exchange(other.m_file, -1))
    , m_bytes(other.m_bytes)
    , m_chunks(other.m_chunks)
{
}

AttachedFile& AttachedFile::operator=(AttachedFile&& other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_file, other.m_file);
    std::swap(m_bytes, other.m_bytes);
    std::swap(m_chunks, other.m_chunks);
    return *this;
}

AttachedFile::~AttachedFile()
{
    if (m_file >= 0)
        close(m_file);
}

Result<void> AttachedFile::append(std::span<const std::byte> chunks)
{
    for (std::size_t written = 0; written < chunks.size();) {
        const ssize_t put = pwrite(
            m_file, chunks.data() + written, chunks.size() - written, static_cast<off_t>(m_bytes + written));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            const int error = put < 0 ? errno : ENOSPC;
            [[maybe_unused]] const int ignored = ftruncate(m_file, static_cast<off_t>(m_bytes));
            return fail(Error::Kind::Unreadable, say("%1: %2", m_path.string(), std::strerror(error)),
                say("what came until then can be opened"));
        }
        written += static_cast<std::size_t>(put);
    }
    m_bytes += chunks.size();
    wire::ChunkHead head;
    for (auto rest = chunks; wire::readHead(rest, head) == wire::ChunkStatus::Ok;
         rest = rest.subspan(std::min(rest.size(), wire::kHeadBytes + head.storedBytes)))
        m_chunks = head.sequence + 1;
    return {};
}

Result<void> AttachedFile::endEarly(const Sentence& why)
{
    const std::vector<wire::KeyValue> facts{ { wire::info::kTruncationOffset, std::to_string(m_bytes) },
        { wire::info::kTruncationReason, why.text() },
        { wire::info::kTruncationInterrupted, wire::info::kYes } };
    wire::Bytes payload, chunk;
    wire::encodeKeyValues(facts, payload);
    wire::ChunkPacker packer;
    packer.continueAt(m_chunks);
    if (!packer.pack(wire::ChunkType::Info, payload, chunk))
        return fail(Error::Kind::Unreadable, say("%1: not enough memory", m_path.string()));
    return append(chunk);
}

} // namespace strata::model
