// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "views/models/document/summary_data.h"
#include "views/style/palette.h"

#include <vector>

class QVBoxLayout;
class QWidget;

namespace strata::views {

class Document;
class SummaryJumps;

/// Parts of the page "Summary" that tell what filled the memory: at the peak, and when a request failed. A
/// part that has nothing to say stays empty. What it is given outlives it. GUI thread only.
class PeakParts {
    Q_DECLARE_TR_FUNCTIONS(strata::views::SummaryPage)
public:
    static constexpr std::size_t kPeakRows = 10; ///< lines of the peak that are shown and copied

    PeakParts(Document& document, SummaryJumps& jumps);

    void fillDevices(QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    void fillOutOfMemory(QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    void fillPeak(QVBoxLayout& part, const SummaryData& device, const Palette& palette);

private:
    void addAmount(QVBoxLayout& part, const QString& amount, const QString& instant, model::EventIndex event);
    QWidget* shareList(const SummaryData& device, const Palette& palette,
        const std::vector<model::GroupSum>& groups, std::int64_t whole, std::size_t most);

    Document& m_document;
    SummaryJumps& m_jumps;
};

} // namespace strata::views
