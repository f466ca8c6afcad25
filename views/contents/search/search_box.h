// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>
#include <QPointer>

#include "views/style/palette.h"

namespace strata::views {

class DocumentView;
class Finder;
class SearchPalette;

/// The search field. What is typed is looked for at once, and stands below it in the palette, which the field
/// moves in: arrows and Page keys, Enter goes there, Ctrl+Enter filters by it. Escape closes the palette; a
/// second one leaves the field, and the keyboard goes back to where it was.
class SearchBox : public QLineEdit {
    Q_OBJECT
public:
    explicit SearchBox(Finder& finder, QWidget* parent = nullptr);
    ~SearchBox() override;

    void setView(DocumentView* view); ///< nullptr: none
    void setPalette(const Palette& palette);
    void takeKeyboard(); ///< with its text selected
    void openPalette(); ///< the same, and shows the palette
    [[nodiscard]] bool isOpen() const;
    [[nodiscard]] SearchPalette* popup() const; ///< nullptr: never opened

protected:
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void open();
    void search();
    void closePalette();
    void leave(); ///< gives the keyboard back

    Finder& m_finder;
    Palette m_palette = Palette::light();
    QPointer<DocumentView> m_view;
    QPointer<SearchPalette> m_popup; // of the window
    QPointer<QWidget> m_before; // had the keyboard
};

} // namespace strata::views
