// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPlainTextEdit>

#include "views/models/programs/output_lines.h"
#include "views/style/palette.h"

namespace strata::views {

/// What a running program writes, with what `strata` says in grey: the last kMostLines lines. Follows the end
/// unless the reader has scrolled up.
class DryRunOutput : public QPlainTextEdit {
    Q_OBJECT
public:
    static constexpr int kMostLines = OutputLines::kMostPending;

    explicit DryRunOutput(QWidget* parent = nullptr);

    void setPalette(const Palette& palette);
    void begin(); ///< empties it
    /// Appends what is new, and shows the line that is not finished as the last.
    void append(OutputLines& lines);

private:
    void appendLine(const QString& line);

    Palette m_palette = Palette::light();
    bool m_unfinished = false; // the last line will be replaced
};

} // namespace strata::views
