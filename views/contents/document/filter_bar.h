// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document/document.h"
#include "views/style/palette.h"

class QHBoxLayout;

namespace strata::views {

/// Every active filter as a chip; a click on one removes it. Chips shrink, with an ellipsis, before they
/// would push the search box away.
class FilterBar : public QWidget {
    Q_OBJECT
public:
    explicit FilterBar(QWidget* parent = nullptr);

    void setDocument(Document* document); ///< nullptr: none
    void setPalette(const Palette& palette);
    void setMuted(bool muted); ///< the page that is shown is not filtered

private:
    void rebuild();

    Document* m_document = nullptr;
    Palette m_palette = Palette::light();
    bool m_muted = false;
    QHBoxLayout* m_layout;
};

} // namespace strata::views
