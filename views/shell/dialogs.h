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

/// The editor that opens frames, and how much is kept of what is watched; modal, stores what was accepted.
void editPreferences(QWidget& parent, QSettings& settings);
/// Millions of events that are kept of a process that is watched; not set: as many as memory suggests.
inline constexpr const char* kLiveEventsKey = "live/millionsOfEvents";
inline constexpr const char* kEditorKey = "editor/command";

} // namespace strata::views
