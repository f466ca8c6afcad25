// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/pages/parts/page.h"

class QLabel;
class QPushButton;

namespace strata::views {

/// A line above a page that says, while there is a filter, how much of the page it does not apply to, with a
/// link that removes it; hidden where it applies to all of it.
class FilterNote : public QWidget {
    Q_OBJECT
public:
    explicit FilterNote(Document& document, QWidget* parent = nullptr);

    void setPage(const Page* page); ///< nullptr: none
    void setPalette(const Palette& palette);

private:
    void refresh();

    Document& m_document;
    const Page* m_page = nullptr;
    QLabel* m_icon;
    QLabel* m_text;
    QPushButton* m_remove;
};

} // namespace strata::views
