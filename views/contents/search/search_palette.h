// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include "views/style/palette.h"

class QLabel;
class QToolButton;

namespace strata::views {

class Finder;
class SearchList;

/// What the search field found, below it: a list over the window, which never takes the keyboard from the
/// field. Below the list stand the command that prints the figure of the current row, and the keys.
class SearchPalette : public QFrame {
    Q_OBJECT
public:
    /// A child of `window`, hidden.
    SearchPalette(Finder& finder, QWidget* window);

    void setPalette(const Palette& palette);
    /// Shows it below `field`, as wide as the window allows, with what finder.find() says.
    void open(QWidget& field);
    [[nodiscard]] SearchList& list() const { return *m_list; }
    [[nodiscard]] QString currentText() const; ///< of the current row, for screen readers
    /// What Enter does, or Ctrl+Enter: the palette closes first, but for rows that unfold. Waits for what is
    /// still looked for.
    void choose(bool narrow);
    void copyCommand(); ///< of the current row, to the clipboard
    [[nodiscard]] QString error() const; ///< that it shows
    [[nodiscard]] const QString& shownText() const { return m_filledFor; } ///< what its rows are of

Q_SIGNALS:
    void closed(bool chosen, bool narrowed); ///< something was chosen, or Escape was pressed
    void currentChanged();

protected:
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fill();
    void place();
    void showCurrent();
    void run(int row, bool narrow);

    Finder& m_finder;
    QWidget* m_field = nullptr;
    QLabel* m_error;
    SearchList* m_list;
    QLabel* m_none;
    QWidget* m_foot;
    QWidget* m_commandRow = nullptr;
    QLabel* m_command;
    QToolButton* m_copy;
    QLabel* m_keys;
    QString m_filledFor;
    int m_choosing = 0; // once it is found: 1 Enter, 2 Ctrl+Enter
};

} // namespace strata::views
