// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/session_file.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace strata::agent {

namespace {

/// Whether no name leads to an open file any more. One that was moved can still be seen. Network file systems
/// keep a removed file under a name of their own until it is closed.
bool isRemoved(int file, const std::string& path)
{
    struct stat open { };
    struct stat named { };
    if (fstat(file, &open) != 0)
        return false;
    if (open.st_nlink == 0)
        return true;
    if (stat(path.c_str(), &named) == 0 ? named.st_dev == open.st_dev && named.st_ino == open.st_ino
                                        : errno != ENOENT)
        return false;
    std::array<char, PATH_MAX> buffer;
    const ssize_t length
        = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), buffer.data(), buffer.size());
    if (length <= 0)
        return false;
    const std::string_view now(buffer.data(), static_cast<std::size_t>(length));
    const std::string_view name = now.substr(now.rfind('/') + 1);
    return now.ends_with(" (deleted)") || name.starts_with(".nfs") || name.starts_with(".fuse_hidden");
}

} // namespace

SessionFile::~SessionFile()
{
    close();
}

bool SessionFile::create(const std::string& path)
{
    m_path = path;
    m_file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    m_errno = m_file < 0 ? errno : 0;
    if (m_file < 0) {
        fail(std::strerror(m_errno));
        return false;
    }
    struct flock lock { };
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    // Where the file system has no locks, a session that was not finished stays as it is.
    [[maybe_unused]] const int ignored = fcntl(m_file, F_OFD_SETLK, &lock);
    return true;
}

bool SessionFile::write(std::span<const std::byte> chunk)
{
    if (m_file < 0)
        return false;
    std::size_t written = 0;
    while (written < chunk.size()) {
        const ssize_t count = ::pwrite(
            m_file, chunk.data() + written, chunk.size() - written, static_cast<off_t>(m_bytes + written));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            end(count < 0 ? std::strerror(errno) : "the system takes no more of it");
            return false;
        }
        written += static_cast<std::size_t>(count);
    }
    m_bytes += chunk.size();
    return true;
}

void SessionFile::check()
{
    if (m_file >= 0 && isRemoved(m_file, m_path))
        end("somebody removed it");
}

void SessionFile::end(const std::string& why)
{
    fail(why);
    // A reader may not find half a chunk at the end; if this fails too, it is told of a cut-off chunk.
    [[maybe_unused]] const int ignored = ftruncate(m_file, static_cast<off_t>(m_bytes));
    close();
}

void SessionFile::close()
{
    if (m_file >= 0)
        ::close(m_file);
    m_file = -1;
}

} // namespace strata::agent
