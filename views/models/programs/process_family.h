// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

#include <sys/types.h>
#include <vector>

namespace strata::views {

/// The processes of this user that belong to a started program, wherever they went: its descendants, those of
/// its session, and those that carry `mark` (NAME=value) in their environment, which also finds what left the
/// family with a session of its own. Reads /proc once; a few milliseconds. Without the program itself; with
/// `program` 0, once it has ended, those of the mark and their descendants.
[[nodiscard]] std::vector<pid_t> familyOf(pid_t program, const QByteArray& mark);

} // namespace strata::views
