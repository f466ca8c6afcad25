// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include "model/base/result.h"

namespace strata::views {

/// The program and arguments that open `file` at `line` by an editor command such as "code -g %f:%l"; quotes
/// group words, a command without %f gets the file as its last argument. Empty for a blank command.
[[nodiscard]] QStringList editorCommand(const QString& command, const QString& file, std::int64_t line);

/// The command for someone who has set none: $VISUAL or $EDITOR if it is an editor with a window, else the
/// first known one that is installed, else the desktop's own choice (xdg-open).
[[nodiscard]] QString defaultEditor();

/// Where a file of a stack is on this machine: as recorded; if relative, below the folder of the snapshot or
/// the current one. An error says where it was looked for.
[[nodiscard]] model::Result<QString> locateSource(const QString& file, const QString& snapshotPath);

/// Opens a file of a stack at a line; an error says what is missing and what to do.
[[nodiscard]] model::Result<void> openInEditor(
    const QString& command, const QString& file, std::int64_t line, const QString& snapshotPath);

} // namespace strata::views
