// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QWidget>

#include "views/models/document/document.h"
#include "views/style/palette.h"

class QLabel;
class QProgressBar;
class QToolButton;

namespace strata::views {

/// What the window's status bar says of a document at its right: background work with cancel, how exact the
/// totals are, whether the device was simulated, the file's size.
class DocumentStatus : public QWidget {
    Q_OBJECT
public:
    explicit DocumentStatus(QWidget* parent = nullptr);

    void setDocument(Document* document); ///< nullptr: none
    void setPalette(const Palette& palette);

Q_SIGNALS:
    void findingChosen(int device, strata::model::EventIndex event);

private:
    void refresh();
    void showFindings();

    Document* m_document = nullptr;
    QElapsedTimer m_busy; // since when it works on what is opened
    void (Document::*m_stop)() = nullptr; // what is named
    Palette m_palette = Palette::light();
    QLabel* m_work;
    QProgressBar* m_bar;
    QToolButton* m_cancel;
    QToolButton* m_integrity;
    QLabel* m_simulated;
    QLabel* m_size;
};

} // namespace strata::views
