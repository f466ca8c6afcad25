// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/user_file.h"

#include "model/wire/chunk.h"
#include "model/wire/tables.h"
#include "model/wire/user_data.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace strata::model {

namespace fs = std::filesystem;

namespace {

/// A file descriptor that closes itself.
class OpenFile {
public:
    /// Nothing but a regular file: what comes through a pipe can be read once, and not by us.
    OpenFile(const fs::path& path, int flags)
        : m_file(isRegular(path, flags) ? ::open(path.c_str(), flags | O_CLOEXEC, 0600) : -1)
    {
    }
    ~OpenFile()
    {
        if (m_file >= 0)
            ::close(m_file);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    [[nodiscard]] bool isOpen() const { return m_file >= 0; }
    [[nodiscard]] int get() const { return m_file; }
    [[nodiscard]] std::uint64_t bytes() const
    {
        struct stat info { };
        return fstat(m_file, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
    }
    /// What of [offset, offset + into.size()) is there.
    [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> into) const
    {
        std::size_t have = 0;
        while (have < into.size()) {
            const ssize_t got
                = ::pread(m_file, into.data() + have, into.size() - have, static_cast<off_t>(offset + have));
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                break;
            have += static_cast<std::size_t>(got);
        }
        return have;
    }
    [[nodiscard]] bool write(std::uint64_t offset, std::span<const std::byte> bytes) const
    {
        while (!bytes.empty()) {
            const ssize_t put = ::pwrite(m_file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
            if (put < 0 && errno == EINTR)
                continue;
            if (put <= 0)
                return false;
            offset += static_cast<std::uint64_t>(put);
            bytes = bytes.subspan(static_cast<std::size_t>(put));
        }
        return true;
    }

private:
    static bool isRegular(const fs::path& path, int flags)
    {
        std::error_code failed;
        return fs::is_regular_file(path, failed) || ((flags & O_CREAT) != 0 && !fs::exists(path, failed));
    }

    int m_file;
};

/// How far a stream of chunks can be followed by its heads.
struct Walk {
    bool isStream = false; ///< it begins as one
    bool hasIndex = false;
    std::uint64_t recordedEnd = 0; ///< behind the index
    std::uint64_t end = 0; ///< behind the last whole chunk
    std::uint32_t chunks = 0;
    wire::Bytes firstInfo; ///< payload of a first chunk of type Info
};

/// Calls take(head, payload) for each chunk of user data. Payloads of others are not read, but for the first.
template <class Take> Walk walk(const OpenFile& file, Take&& take)
{
    Walk walk;
    const std::uint64_t bytes = file.bytes();
    std::array<std::byte, wire::kHeadBytes> headBytes;
    wire::Bytes stored, payload;
    while (file.read(walk.end, headBytes) == headBytes.size()) {
        wire::ChunkHead head;
        if (wire::readHead(headBytes, head) != wire::ChunkStatus::Ok || head.sequence != walk.chunks
            || head.storedBytes > bytes - walk.end - headBytes.size())
            break;
        walk.isStream = true;
        const bool isUser = wire::isUserData(head.type);
        if (isUser || walk.hasIndex || walk.chunks == 0) {
            stored.resize(head.storedBytes);
            if (file.read(walk.end + headBytes.size(), stored) != stored.size()
                || wire::unpack(head, headBytes, stored, payload) != wire::ChunkStatus::Ok)
                break;
            if (isUser)
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

Walk walk(const OpenFile& file)
{
    return walk(file, [](wire::ChunkType, const wire::Bytes&) {});
}

/// A name for what a file holds. A session that a recorder wrote is known by its first chunk, which has the
/// process and the moment; else size, begin and end of what was recorded tell files apart.
std::uint64_t contentKey(const OpenFile& file)
{
    constexpr std::size_t kPiece = 65'536;
    const Walk known = walk(file);
    std::vector<wire::KeyValue> info;
    if (wire::decodeKeyValues(known.firstInfo, info)
        && std::ranges::find(info, "started_ns", &wire::KeyValue::first) != info.end())
        return XXH3_64bits(known.firstInfo.data(), known.firstInfo.size());
    const std::uint64_t bytes = known.hasIndex ? known.recordedEnd : file.bytes();
    std::vector<std::byte> piece(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes)));
    piece.resize(file.read(0, piece));
    std::uint64_t key = XXH3_64bits_withSeed(piece.data(), piece.size(), bytes);
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes)));
    piece.resize(file.read(bytes - piece.size(), piece));
    key = XXH3_64bits_withSeed(piece.data(), piece.size(), key);
    return key;
}

wire::ChunkType typeOf(UserItem::Kind kind)
{
    return kind == UserItem::Kind::Note ? wire::ChunkType::Note
        : kind == UserItem::Kind::Range ? wire::ChunkType::Range
                                        : wire::ChunkType::Filter;
}

UserItem::Kind kindOf(wire::ChunkType type)
{
    return type == wire::ChunkType::Note ? UserItem::Kind::Note
        : type == wire::ChunkType::Range ? UserItem::Kind::Range
                                         : UserItem::Kind::Filter;
}

Error systemError(const fs::path& path, std::string hint)
{
    return { Error::Kind::Unreadable, fmt::format("cannot be written: {}", std::strerror(errno)),
        std::move(hint), path.string() };
}

/// Behind the last whole chunk of `file`; false with errno set.
bool appendChunks(const OpenFile& file, const Walk& at, std::span<const UserChange> changes)
{
    wire::ChunkPacker packer;
    wire::Bytes packed, payload;
    packer.continueAt(at.chunks);
    if (at.chunks == 0) {
        const std::vector<wire::KeyValue> info{ { "minor", "1" }, { "creator", "strata " STRATA_VERSION } };
        wire::encodeKeyValues(info, payload);
        if (!packer.pack(wire::ChunkType::Info, payload, packed))
            return false;
    }
    for (const auto& [item, removed] : changes) {
        const wire::UserRow row{ item.key, removed, item.changedNs, item.device, item.first, item.last,
            item.address, item.text, item.conditions };
        payload.clear();
        wire::encodeUserRows({ &row, 1 }, payload);
        if (!packer.pack(typeOf(item.kind), payload, packed)) {
            errno = EFBIG;
            return false;
        }
    }
    if (at.end < file.bytes() && ftruncate(file.get(), static_cast<off_t>(at.end)) != 0)
        return false;
    if (!file.write(at.end, packed)) {
        const int error = errno;
        [[maybe_unused]] const int ignored = ftruncate(file.get(), static_cast<off_t>(at.end));
        errno = error;
        return false;
    }
    return fdatasync(file.get()) == 0 || errno == EINVAL || errno == EROFS;
}

} // namespace

UserFile::UserFile(fs::path recording, fs::path folder)
    : m_recording(std::move(recording))
    , m_folder(std::move(folder))
{
}

fs::path UserFile::usualFolder()
{
    const char* const data = std::getenv("XDG_DATA_HOME");
    if (data != nullptr && data[0] == '/')
        return fs::path(data) / "strata/notes";
    const char* const home = std::getenv("HOME");
    return home != nullptr && home[0] == '/' ? fs::path(home) / ".local/share/strata/notes" : fs::path();
}

fs::path UserFile::besideFile() const
{
    const OpenFile file(m_recording, O_RDONLY);
    return m_folder.empty() || !file.isOpen() ? fs::path()
                                              : m_folder / fmt::format("{:016x}.strata", contentKey(file));
}

void UserFile::addTo(UserData& user) const
{
    const fs::path beside = besideFile();
    if (beside.empty())
        return;
    const OpenFile file(beside, O_RDONLY);
    if (!file.isOpen())
        return;
    UserData found;
    const Walk walked = walk(file, [&](wire::ChunkType type, const wire::Bytes& payload) {
        std::vector<wire::UserRow> rows;
        if (!wire::decodeUserRows(payload, rows))
            return;
        for (wire::UserRow& row : rows) {
            if (row.removed)
                found.remove(row.key, row.changedNs);
            else
                found.set({ kindOf(type), row.key, row.changedNs, row.device, row.first, row.last,
                    row.address, std::move(row.text), std::move(row.conditions) });
        }
    });
    if (walked.end < file.bytes())
        found.unreadFrom = walked.end;
    user.merge(found);
}

Result<fs::path> UserFile::append(std::span<const UserChange> changes) const
{
    {
        const OpenFile file(m_recording, O_RDWR);
        if (file.isOpen() && flock(file.get(), LOCK_EX) == 0) {
            if (const Walk at = walk(file); at.hasIndex) {
                if (appendChunks(file, at, changes))
                    return m_recording;
                return Failure(systemError(m_recording, "free some space; what was there is unchanged"));
            }
        }
    }
    const fs::path beside = besideFile();
    if (beside.empty())
        return fail(Error::Kind::Unreadable, "there is no place for notes on this recording",
            "convert it to a session: strata convert FILE -o FILE.strata");
    std::error_code failed;
    fs::create_directories(m_folder, failed);
    const OpenFile file(beside, O_RDWR | O_CREAT);
    if (!file.isOpen() || flock(file.get(), LOCK_EX) != 0 || !appendChunks(file, walk(file), changes))
        return Failure(
            systemError(beside, "make that folder writable, or convert the recording to a session"));
    return beside;
}

std::uint64_t newUserKey()
{
    std::random_device device;
    return std::uint64_t{ device() } << 32 | device();
}

} // namespace strata::model
