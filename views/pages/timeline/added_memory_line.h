// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "views/models/document/added_memory.h"
#include "views/style/palette.h"

class QLabel;
class QProgressBar;
class QToolButton;

namespace strata::views {

struct WorkFigures;

/// What is added to a timeline: how it lies to it and its peaks, else the file that is read, or why one was
/// not added; with what can be done of it. Not visible where there is nothing to say.
class AddedMemoryLine : public QWidget {
    Q_OBJECT
public:
    /// `adder` outlives it.
    explicit AddedMemoryLine(MemoryAdder& adder, QWidget* parent = nullptr);

    void showPeaks(const WorkFigures& figures); ///< of what is measured
    void setColours(const Palette& palette);
    [[nodiscard]] QString text() const; ///< plain
    [[nodiscard]] QToolButton& button() const { return *m_button; }

private:
    void refresh();
    void press();

    MemoryAdder& m_adder;
    QTimer m_patience; // until a file that is read is told of
    QString m_peaks;
    Palette m_palette = Palette::light();
    QLabel *m_icon, *m_what, *m_more;
    QProgressBar* m_bar;
    QToolButton* m_button;
};

} // namespace strata::views
