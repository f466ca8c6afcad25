// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/user_file.h"

#include "model/chunks/user_items.h"
#include "model/session/chunk_file.h"
#include "model/wire/tables.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <random>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace strata::model {

namespace fs = std::filesystem;

namespace {

/// A name for what a file holds. A session that a recorder wrote is known by its first chunk, which has the
/// process and the moment; else size, begin and end of what was recorded tell files apart.
std::uint64_t contentKey(const ChunkFile& file)
{
    constexpr std::size_t kPiece = 65'536;
    const ChunkWalk known = file.walk();
    std::vector<wire::KeyValue> info;
    if (wire::decodeKeyValues(known.firstInfo, info)
        && std::ranges::find(info, wire::info::kStartedNs, &wire::KeyValue::first) != info.end())
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

/// Where what is said of a recording lies; empty: there can be none.
fs::path besideFile(const ChunkFile& recording, const fs::path& folder)
{
    return folder.empty() || !recording.isOpen()
        ? fs::path()
        : folder / fmt::format("{:016x}.strata", contentKey(recording));
}

Error systemError(const fs::path& path, Sentence hint)
{
    return { Error::Kind::Unreadable, say("cannot be written: %1", std::strerror(errno)), std::move(hint),
        path.string() };
}

/// The chunks that say so; a file of its own says first who made it.
bool appendChanges(const ChunkFile& file, const ChunkWalk& at, std::span<const UserChange> changes)
{
    return file.append(at, [&](wire::ChunkWriter& writer) {
        if (at.chunks == 0)
            writer.chunk(wire::ChunkType::Info,
                [](wire::Bytes& out) { wire::encodeKeyValues(wire::introduction(), out); });
        for (const auto& [item, removed] : changes) {
            const wire::UserRow row = rowOf(item, removed);
            writer.chunk(chunkTypeOf(item.kind), [&](wire::Bytes& out) {
                wire::encodeUserRows({ &row, 1 }, out);
            });
        }
    });
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

void UserFile::addBeside(const ChunkFile& recording, const fs::path& folder, UserData& user)
{
    const fs::path beside = besideFile(recording, folder);
    if (beside.empty())
        return;
    const ChunkFile file(beside, O_RDONLY);
    if (!file.isOpen())
        return;
    UserData found;
    const ChunkWalk walked = file.walk(
        [&](wire::ChunkType type, const wire::Bytes& payload) { takeUserRows(type, payload, found); });
    if (walked.end < file.bytes())
        found.unreadFrom = walked.end;
    user.merge(found);
}

Result<fs::path> UserFile::append(std::span<const UserChange> changes) const
{
    fs::path beside;
    {
        const ChunkFile file(m_recording, O_RDWR);
        if (file.isOpen() && file.lock()) {
            if (const ChunkWalk at = file.walk(); at.hasIndex) {
                if (appendChanges(file, at, changes))
                    return m_recording;
                return Failure(systemError(m_recording, say("free some space; what was there is unchanged")));
            }
        }
        if (file.isOpen())
            beside = besideFile(file, m_folder);
    }
    if (beside.empty()) // it cannot be written
        beside = besideFile(ChunkFile(m_recording, O_RDONLY), m_folder);
    if (beside.empty())
        return fail(Error::Kind::Unreadable, say("there is no place for notes on this recording"),
            say("convert it to a session: strata convert FILE -o FILE.strata"));
    std::error_code failed;
    fs::create_directories(m_folder, failed);
    const ChunkFile file(beside, O_RDWR | O_CREAT);
    if (!file.isOpen() || !file.lock() || !appendChanges(file, file.walk(), changes))
        return Failure(
            systemError(beside, say("make that folder writable, or convert the recording to a session")));
    return beside;
}

std::uint64_t newUserKey()
{
    std::random_device device;
    return std::uint64_t{ device() } << 32 | device();
}

} // namespace strata::model
