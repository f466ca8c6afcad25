// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QDialog;
class QSettings;
class QString;
class QWidget;

namespace strata::views {

/// A dialog with a column for its parts; it deletes itself when closed.
[[nodiscard]] QDialog* makeDialog(QWidget& parent, const QString& title);
void addCloseButton(QDialog& dialog);

void showAbout(QWidget& parent);

/// The editor that opens frames; modal, stores what was accepted.
void editPreferences(QWidget& parent, QSettings& settings);
inline constexpr const char* kEditorKey = "editor/command";

} // namespace strata::views
