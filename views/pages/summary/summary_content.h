// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "views/models/document/document.h"
#include "views/style/palette.h"

#include <memory>
#include <vector>

class QBoxLayout;
class QFont;
class QLabel;
class QWidget;

namespace strata::views {

class SummaryJumps;

/// What the page "Summary" shows, or will show once all its parts are made: the verdict, below it two
/// columns. Whoever shows it owns the widget. GUI thread only.
struct SummaryContent {
    Q_DECLARE_TR_FUNCTIONS(strata::views::SummaryPage)
public:
    std::shared_ptr<const SummaryData> data; ///< nullptr: it says why there is none
    QWidget* widget = nullptr;
    QBoxLayout* columns = nullptr; ///< beside or below each other
    QWidget* facts = nullptr; ///< the second of them
    QLabel* verdict = nullptr;
    QLabel* leaks = nullptr; ///< of the verdict, once they are known
    std::size_t parts = 0; ///< made

    /// Without its parts, and not arranged yet.
    [[nodiscard]] static SummaryContent begin(std::shared_ptr<const SummaryData> data, Document& document,
        const QFont& font, const Palette& palette, SummaryJumps& jumps);
    void showVerdict(const std::vector<model::Sentence>& sentences, const Palette& palette) const;
    /// Below the verdict, where they are found: what is shown moves by that line.
    void showLeaks(const Document& document) const;
    /// One column or two, in a page of this width with such a scroll bar; pixels.
    void arrange(int width, int scrollBar, const QFont& font) const;
};

} // namespace strata::views
