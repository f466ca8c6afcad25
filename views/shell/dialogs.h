// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/shell/actions.h"
#include "views/style/palette.h"

class QSettings;
class QWidget;

namespace strata::views {

/// A list of every action with its shortcut, made from the actions themselves, and of what the mouse does in
/// pictures. `pageSections` are the actions of the pages. Deletes itself when closed.
void showShortcuts(QWidget& parent, const QList<Actions::Section>& sections);

/// Lines of a key list: "Undo", "Ctrl+Z"; actions that are not visible now are left out.
[[nodiscard]] QList<std::pair<QString, QString>> shortcutRows(const QList<QAction*>& actions);

void showAbout(QWidget& parent);

/// The editor that opens frames; modal, stores what was accepted.
void editPreferences(QWidget& parent, QSettings& settings);
inline constexpr const char* kEditorKey = "editor/command";

} // namespace strata::views
