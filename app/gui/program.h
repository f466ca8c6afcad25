// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/options.h"
#include "views/shell/theme.h"
#include "views/shell/window_content.h"

#include <QSettings>

#include <optional>

class QApplication;

namespace strata::gui {

/// The program behind main(): names, settings, theme, and windows for the files of the command line. One per
/// process, made right after the application; GUI thread only. Windows belong to themselves and go when they
/// are closed; the program must outlive them.
class Program {
public:
    explicit Program(QApplication& application);

    /// Opens a window for each file, or an empty one; with --render writes pictures instead and returns the
    /// exit status.
    [[nodiscard]] std::optional<int> start(const Options& options);

    [[nodiscard]] QSettings& settings() { return m_settings; }
    [[nodiscard]] views::Theme& theme() { return m_theme; }
    [[nodiscard]] const views::ContentList& contents() const { return m_contents; }

private:
    QApplication& m_application; // named first: the settings are stored under its names
    QSettings m_settings;
    views::Theme m_theme;
    views::ContentList m_contents;
};

} // namespace strata::gui
