// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/output_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace strata::model {
namespace {

Failure cannotWrite(const std::filesystem::path& path, int error)
{
    Failure failure
        = fail(Error::Kind::Unreadable, say("cannot be written: %1", std::generic_category().message(error)),
            error == ENOSPC ? say("free some space or name another disk")
                            : say("name a folder that you may write to"));
    failure.value().where = path.string();
    return failure;
}

} // namespace

OutputFile::OutputFile(std::filesystem::path path, std::filesystem::path temporary, std::FILE* file)
    : m_path(std::move(path))
    , m_temporary(std::move(temporary))
    , m_file(file)
{
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_temporary(std::move(other.m_temporary))
    , m_file(std::exchange(other.m_file, nullptr))
    , m_offset(other.m_offset)
    , m_error(other.m_error)
{
}

OutputFile::~OutputFile()
{
    if (m_file == nullptr)
        return;
    std::fclose(m_file);
    std::error_code ignored;
    std::filesystem::remove(m_temporary, ignored);
}

Result<OutputFile> OutputFile::create(const std::filesystem::path& path)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return cannotWrite(path, EISDIR);
    // In the same folder, or it could not be renamed; a pipe or device is written to as it is.
    const bool special
        = std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
    std::filesystem::path temporary = path;
    if (!special)
        temporary += fmt::format(".{}.part", ::getpid());
    std::FILE* const file = std::fopen(temporary.c_str(), "wb");
    if (file == nullptr)
        return cannotWrite(path, errno);
    return OutputFile(path, std::move(temporary), file);
}

void OutputFile::write(std::span<const std::byte> bytes)
{
    m_offset += bytes.size();
    if (m_error == 0 && std::fwrite(bytes.data(), 1, bytes.size(), m_file) != bytes.size())
        m_error = errno;
}

Result<void> OutputFile::commit()
{
    std::FILE* const file = std::exchange(m_file, nullptr);
    if (m_error == 0 && std::fflush(file) != 0)
        m_error = errno;
    if (m_error == 0 && ::fsync(::fileno(file)) != 0 && errno != EINVAL) // a pipe has nothing to sync
        m_error = errno;
    if (std::fclose(file) != 0 && m_error == 0)
        m_error = errno;
    std::error_code error;
    if (m_error == 0 && m_temporary != m_path) {
        std::filesystem::rename(m_temporary, m_path, error);
        m_error = error.value();
    }
    if (m_error == 0)
        return {};
    if (m_temporary != m_path)
        std::filesystem::remove(m_temporary, error);
    return cannotWrite(m_path, m_error);
}

} // namespace strata::model
