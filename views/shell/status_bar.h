// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document.h"
#include "views/models/palette.h"

class QLabel;
class QProgressBar;
class QToolButton;

namespace strata::views {

/// The line at the bottom: what is under the mouse, or else what is selected; how exact the totals are;
/// whether the device was simulated; background work with cancel; the file's size.
class StatusBar : public QWidget {
    Q_OBJECT
public:
    explicit StatusBar(QWidget* parent = nullptr);

    void setDocument(Document* document); ///< nullptr: none
    void setPalette(const Palette& palette);
    void setHover(const QString& text);
    void flash(const QString& text); ///< for a few seconds: "copied 12 lines"
    [[nodiscard]] QString text() const;

Q_SIGNALS:
    void findingChosen(int device, strata::model::EventIndex event);

private:
    void refresh();
    void refreshText();
    void showFindings();

    Document* m_document = nullptr;
    Palette m_palette = Palette::light();
    QString m_hover, m_flash;
    QLabel* m_text;
    QLabel* m_work;
    QProgressBar* m_bar;
    QToolButton* m_cancel;
    QToolButton* m_integrity;
    QLabel* m_simulated;
    QLabel* m_size;
};

} // namespace strata::views
