// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/chunk_file.h"

#include "model/wire/read_at.h"
#include "model/wire/user_data_codec.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strata::model {

namespace fs = std::filesystem;

namespace {

bool isRegular(const fs::path& path, int flags)
{
    std::error_code failed;
    return fs::is_regular_file(path, failed) || ((flags & O_CREAT) != 0 && !fs::exists(path, failed));
}

bool writeAll(int file, std::uint64_t offset, std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t put = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        offset += static_cast<std::uint64_t>(put);
        bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return true;
}

} // namespace

ChunkFile::ChunkFile(const fs::path& path, int flags)
    : m_file(isRegular(path, flags) ? ::open(path.c_str(), flags | O_CLOEXEC, 0600) : -1)
{
}

ChunkFile::ChunkFile(int descriptor)
    : m_file(descriptor < 0 ? -1 : ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0))
{
}

ChunkFile::~ChunkFile()
{
    if (m_file >= 0)
        ::close(m_file);
}

std::uint64_t ChunkFile::bytes() const
{
    struct stat info { };
    return fstat(m_file, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::size_t ChunkFile::read(std::uint64_t offset, std::span<std::byte> into) const
{
    return wire::readAt(m_file, offset, into);
}

bool ChunkFile::lock() const
{
    return flock(m_file, LOCK_EX) == 0;
}

bool ChunkFile::isBeingRecorded() const
{
    struct flock lock { };
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(m_file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

ChunkWalk ChunkFile::walk(const Take& take) const
{
    ChunkWalk walk;
    const std::uint64_t size = bytes();
    std::array<std::byte, wire::kHeadBytes> headBytes;
    wire::Bytes stored, payload;
    while (read(walk.end, headBytes) == headBytes.size()) {
        wire::ChunkHead head;
        if (wire::readHead(headBytes, head) != wire::ChunkStatus::Ok || head.sequence != walk.chunks
            || head.storedBytes > size - walk.end - headBytes.size())
            break;
        const bool isUser = wire::isUserData(head.type);
        if (isUser || walk.hasIndex || walk.chunks == 0) {
            stored.resize(head.storedBytes);
            if (read(walk.end + headBytes.size(), stored) != stored.size()
                || wire::unpack(head, headBytes, stored, payload) != wire::ChunkStatus::Ok)
                break;
            if (isUser && take)
                take(head.type, payload);
            if (walk.chunks == 0 && head.type == wire::ChunkType::Info)
                walk.firstInfo = payload;
        }
        walk.end += headBytes.size() + head.storedBytes;
        ++walk.chunks;
        if (head.type == wire::ChunkType::Index) {
            walk.hasIndex = true;
            walk.recordedEnd = walk.end;
        }
    }
    return walk;
}

bool ChunkFile::append(const ChunkWalk& at, const std::function<void(wire::ChunkWriter&)>& write) const
{
    wire::MemorySink added; // in one piece: all of it or nothing
    wire::ChunkWriter writer(added, at.chunks);
    write(writer);
    if (!writer.isWriting()) {
        errno = EFBIG;
        return false;
    }
    if (at.end < bytes() && ftruncate(m_file, static_cast<off_t>(at.end)) != 0)
        return false;
    if (!writeAll(m_file, at.end, added.bytes())) {
        const int error = errno;
        [[maybe_unused]] const int ignored = ftruncate(m_file, static_cast<off_t>(at.end));
        errno = error;
        return false;
    }
    return fdatasync(m_file) == 0 || errno == EINVAL || errno == EROFS;
}

} // namespace strata::model
