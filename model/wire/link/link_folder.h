// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace strata::wire {

/// Where processes that are recorded have their sockets, and viewers look for them: one folder for a user,
/// of the first of these places that there is.
///
///     $XDG_RUNTIME_DIR/strata   /run/user/UID/strata   /tmp/strata-UID
///
/// Nobody else can put anything into it: it is a folder and no link, the user's own, with mode 0700. All
/// functions may be called by any thread; they cost calls of the system.

inline constexpr std::string_view kSocketSuffix = ".sock"; ///< of a socket that listens, named PID.sock

/// The folder of the user of this process, made if it is not there. Empty: `why` says what is wrong with it.
[[nodiscard]] std::string makeLinkFolder(std::string& why);

/// All folders in which sockets of `user` may lie, of whatever environment they were made, as far as they
/// are there. One that cannot be trusted is left out, and `why` gets a line about it.
[[nodiscard]] std::vector<std::string> linkFolders(uid_t user, std::string& why);

/// Of all users whose folders can be seen: what root is shown.
[[nodiscard]] std::vector<std::string> linkFoldersOfAll(std::string& why);

/// Why a viewer may not use the folder: "a link", "belongs to another user". Empty: it may.
[[nodiscard]] std::string whyNotTrusted(const std::string& folder, uid_t owner);

/// The same of a socket in it.
[[nodiscard]] std::string whyNoSocket(const std::string& path, uid_t owner);

/// Removes the sockets of `folder` that nobody listens on any more.
void removeDeadSockets(const std::string& folder) noexcept;

} // namespace strata::wire
