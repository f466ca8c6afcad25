// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/source/byte_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strata::model {

namespace {

class FileSource final : public ByteSource {
public:
    FileSource(int fd, std::uint64_t size, bool seekable)
        : m_fd(fd)
        , m_size(size)
        , m_seekable(seekable)
    {
    }
    ~FileSource() override { ::close(m_fd); }
    FileSource(const FileSource&) = delete;
    FileSource& operator=(const FileSource&) = delete;

    Result<std::size_t> read(std::span<std::byte> into) override
    {
        for (;;) {
            const ssize_t got = ::read(m_fd, into.data(), into.size());
            if (got >= 0) {
                m_done += static_cast<std::uint64_t>(got);
                return static_cast<std::size_t>(got);
            }
            if (errno != EINTR)
                return fail(Error::Kind::Unreadable,
                    say("reading failed at byte %1: %2", m_done, std::strerror(errno)),
                    say("copy the file to a healthy disk and try again"));
        }
    }

    Result<std::uint64_t> skip(std::uint64_t count) override
    {
        if (!m_seekable)
            return ByteSource::skip(count);
        const std::uint64_t step = std::min(count, m_size > m_done ? m_size - m_done : 0);
        if (::lseek(m_fd, static_cast<off_t>(step), SEEK_CUR) < 0)
            return ByteSource::skip(count);
        m_done += step;
        return step;
    }

    bool rewind() override
    {
        if (!m_seekable || ::lseek(m_fd, 0, SEEK_SET) != 0)
            return false;
        m_done = 0;
        return true;
    }

    std::uint64_t fileBytesDone() const override { return m_done; }
    std::uint64_t fileBytesTotal() const override { return m_size; }
    int descriptor() const override { return m_seekable ? m_fd : -1; }

private:
    int m_fd;
    std::uint64_t m_size;
    std::uint64_t m_done = 0;
    bool m_seekable;
};

class MemorySource final : public ByteSource {
public:
    explicit MemorySource(std::span<const std::byte> content)
        : m_content(content)
    {
    }

    Result<std::size_t> read(std::span<std::byte> into) override
    {
        const std::size_t n = std::min(into.size(), m_content.size() - m_done);
        if (n > 0)
            std::memcpy(into.data(), m_content.data() + m_done, n);
        m_done += n;
        return n;
    }

    Result<std::uint64_t> skip(std::uint64_t count) override
    {
        const std::uint64_t step = std::min<std::uint64_t>(count, m_content.size() - m_done);
        m_done += static_cast<std::size_t>(step);
        return step;
    }

    bool rewind() override
    {
        m_done = 0;
        return true;
    }

    std::uint64_t fileBytesDone() const override { return m_done; }
    std::uint64_t fileBytesTotal() const override { return m_content.size(); }

private:
    std::span<const std::byte> m_content;
    std::size_t m_done = 0;
};

class PrefixedSource final : public ByteSource {
public:
    PrefixedSource(std::vector<std::byte> head, std::unique_ptr<ByteSource> tail)
        : m_head(std::move(head))
        , m_tail(std::move(tail))
    {
    }

    Result<std::size_t> read(std::span<std::byte> into) override
    {
        if (m_done == m_head.size())
            return m_tail->read(into);
        const std::size_t n = std::min(into.size(), m_head.size() - m_done);
        std::memcpy(into.data(), m_head.data() + m_done, n);
        m_done += n;
        return n;
    }

    Result<std::uint64_t> skip(std::uint64_t count) override
    {
        const std::uint64_t fromHead = std::min<std::uint64_t>(count, m_head.size() - m_done);
        m_done += static_cast<std::size_t>(fromHead);
        if (fromHead == count)
            return fromHead;
        const Result<std::uint64_t> fromTail = m_tail->skip(count - fromHead);
        if (!fromTail)
            return fromTail;
        return fromHead + *fromTail;
    }

    std::uint64_t fileBytesDone() const override { return m_tail->fileBytesDone(); }
    std::uint64_t fileBytesTotal() const override { return m_tail->fileBytesTotal(); }
    Sentence nameOf(std::uint64_t offset) const override { return m_tail->nameOf(offset); }

private:
    std::vector<std::byte> m_head;
    std::size_t m_done = 0;
    std::unique_ptr<ByteSource> m_tail;
};

} // namespace

Result<std::uint64_t> ByteSource::skip(std::uint64_t count)
{
    std::array<std::byte, std::size_t{ 1 } << 16> buffer;
    std::uint64_t done = 0;
    while (done < count) {
        const std::uint64_t want = std::min<std::uint64_t>(count - done, buffer.size());
        const Result<std::size_t> got = read(std::span(buffer).first(static_cast<std::size_t>(want)));
        if (!got)
            return Failure(got.error());
        if (*got == 0)
            break;
        done += *got;
    }
    return done;
}

Result<std::unique_ptr<ByteSource>> openFile(const std::filesystem::path& path)
{
    // Without O_NONBLOCK a named pipe without a writer would hang the open.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        const int why = errno;
        if (why == ENOENT || why == ENOTDIR)
            return fail(Error::Kind::Unreadable, say("no such file"), say("check the name"));
        if (why == EACCES || why == EPERM)
            return fail(
                Error::Kind::Unreadable, say("permission denied"), say("make it readable for this user"));
        return fail(Error::Kind::Unreadable, say("cannot be opened: %1", std::strerror(why)));
    }
    struct stat info = {};
    if (::fstat(fd, &info) != 0) {
        const int why = errno;
        ::close(fd);
        return fail(Error::Kind::Unreadable, say("cannot be examined: %1", std::strerror(why)));
    }
    if (S_ISDIR(info.st_mode)) {
        ::close(fd);
        return fail(Error::Kind::Unreadable, say("this is a directory"),
            say("name the files in it, e.g. DIR/snapshot.pickle, or DIR/rank0.json.gz DIR/rank1.json.gz"));
    }
    const bool regular = S_ISREG(info.st_mode);
    if (!regular)
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    else
        ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return std::make_unique<FileSource>(fd, regular ? static_cast<std::uint64_t>(info.st_size) : 0, regular);
}

std::unique_ptr<ByteSource> memorySource(std::span<const std::byte> content)
{
    return std::make_unique<MemorySource>(content);
}

std::unique_ptr<ByteSource> prefixedSource(std::vector<std::byte> head, std::unique_ptr<ByteSource> tail)
{
    return std::make_unique<PrefixedSource>(std::move(head), std::move(tail));
}

} // namespace strata::model
