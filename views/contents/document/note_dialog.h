// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>

class QWidget;

namespace strata::views {

/// Asks for one line of text: a note, or a name. Window-modal; returns at once. `about` says in a sentence
/// what the text is for. Calls `done` with what was entered, without spaces around it, unless it is empty or
/// the dialog was cancelled.
void askForText(QWidget& parent, const QString& title, const QString& about, const QString& initial,
    std::function<void(const QString&)> done);

} // namespace strata::views
