// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/user_data.h"

#include <filesystem>
#include <span>
#include <string>

namespace strata::model {

class ChunkFile;

/// A change to the user data of a recording: an item as it is now, or (removed) the key of one that is gone.
struct UserChange {
    UserItem item;
    bool removed = false;
};

/// Where notes, named ranges and filters of one recording are kept. A finished session that can be written
/// takes them itself, behind all that was recorded. For anything else - a snapshot, a session that is still
/// written or cannot be - they lie in a file of the user's own, found again by the recording's content: by
/// whatever name, in whatever folder. No byte that somebody else wrote is ever changed.
class UserFile {
public:
    /// `folder` holds the files of recordings that cannot take them; it is made when first needed. Empty:
    /// there is none.
    UserFile(std::filesystem::path recording, std::filesystem::path folder);

    /// The folder that programs use: strata/notes in $XDG_DATA_HOME, ~/.local/share without; empty without a
    /// home.
    [[nodiscard]] static std::filesystem::path usualFolder();

    /// Adds to `user`, which is what the recording itself has, what lies in `folder` beside it. A file that
    /// cannot be read adds what stands before the damage. O(size of that file), and 128 KiB of the recording.
    static void addBeside(const ChunkFile& recording, const std::filesystem::path& folder, UserData& user);

    /// Appends changes and has the system keep them: once this returns they survive the process and, where
    /// the disk keeps its word, the machine. What a crash had left half-written at the end is cut off first.
    /// Several processes may do so at once. Gives the file that has them now.
    [[nodiscard]] Result<std::filesystem::path> append(std::span<const UserChange> changes) const;

private:
    std::filesystem::path m_recording, m_folder;
};

/// A key for a new item.
[[nodiscard]] std::uint64_t newUserKey();

} // namespace strata::model
