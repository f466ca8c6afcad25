// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <utility>

namespace strata::views {

/// A line as a person types it into a terminal, taken apart the way a POSIX shell does: quotes, backslashes,
/// `~`, `NAME=value` in front. A line that needs a shell for more than that (pipes, redirections, `$NAME`,
/// `*`, several commands) is handed to `sh -c` as it stands. A line break separates words.
struct ShellCommand {
    QList<std::pair<QString, QString>> variables; ///< of the `NAME=value` in front
    QStringList words; ///< the program and its arguments; "sh", "-c" and the line where it needs a shell
    QString shellSyntax; ///< the first character that only a shell understands; empty: none
    bool unclosedQuote = false; ///< the line ends inside quotes: `words` says nothing then

    [[nodiscard]] bool runnable() const { return !unclosedQuote && !words.isEmpty(); }
};

[[nodiscard]] ShellCommand splitCommand(const QString& line);

/// Where a command runs for which `folder` was typed: that, with `~` taken for the home folder, which it is
/// where nothing was typed.
[[nodiscard]] QString workingFolder(const QString& folder);

} // namespace strata::views
