// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace strata::gui {

/// What the command line of strata-gui asks for.
struct Options {
    QStringList files;
    QString theme; ///< "light", "dark"; empty: as set, else the desktop's
    std::optional<QString> renderTo; ///< a folder: write pictures there and leave
    QStringList pages; ///< ids; empty: all
    QSize size{ 1280, 800 }; ///< of a picture, in logical pixels
    double scale = 1;
    QStringList changes; ///< KIND=VALUE, that the page What-if is asked
    QString table; ///< that the page What-if shows below its picture; empty: the first
    bool svg = false;
    bool window = false; ///< pictures of the whole window
    bool force = false;
    bool ranks = false; ///< the files are those of one run
};

/// Sets what must stand before the application exists: the scale of its pictures, and a platform without a
/// screen. True if pictures are asked for.
bool prepareEnvironment(int argc, char** argv);

/// Parses what the application's arguments say; prints help or complaints and leaves the program (0 or 2).
[[nodiscard]] Options parseOptions(const QStringList& arguments);

} // namespace strata::gui
