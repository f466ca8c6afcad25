// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QStringList>

#include "views/models/document/summary_data.h"
#include "views/style/palette.h"

#include <functional>
#include <vector>

class QVBoxLayout;
class QWidget;

namespace strata::views {

class FoldSection;
class SummaryJumps;
struct Fact;

/// The second column of the page "Summary": whether the figures can be trusted, waste, numbers, settings.
/// Knows what of it the user has folded. What it is given outlives it. GUI thread only.
class FactColumn {
    Q_DECLARE_TR_FUNCTIONS(strata::views::SummaryPage)
public:
    static constexpr std::size_t kParts = 7;

    /// `unfoldedChanged` is called when unfolded() says something else.
    FactColumn(QWidget& page, SummaryJumps& jumps, std::function<void()> unfoldedChanged);

    /// One of kParts; a part that has nothing to say stays empty.
    void fill(std::size_t number, QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    [[nodiscard]] const QStringList& unfolded() const { return m_unfolded; }
    void setUnfolded(const QStringList& parts); ///< of what the page shows, too

private:
    /// A part that is folded while nothing is wrong, unless the user has unfolded it; `name` as in
    /// unfolded().
    FoldSection* addFold(QVBoxLayout& part, const Palette& palette, const QString& name, const QString& title,
        const QString& essence, bool wrong);
    void addFacts(QVBoxLayout& part, const std::vector<Fact>& facts);
    void fillIntegrity(QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    void fillWaste(QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    void fillNumbers(QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    void fillSimulation(QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    void fillDriver(QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    void fillHostMemory(QVBoxLayout& part, const SummaryData& device, const Palette& palette);
    void fillSettings(QVBoxLayout& part, const SummaryData& device, const Palette& palette);

    QWidget& m_page;
    SummaryJumps& m_jumps;
    std::function<void()> m_unfoldedChanged;
    bool m_allSettings = false; // those at their defaults are shown, too
    QStringList m_unfolded; // by the user, who wants to see them of every file
    QStringList m_folded; // by the user, though something is wrong: of this file alone
};

} // namespace strata::views
