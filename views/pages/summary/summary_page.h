// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>

#include "model/whatif/ask/scenario.h"
#include "views/pages/parts/page.h"
#include "views/pages/summary/fact_column.h"
#include "views/pages/summary/peak_parts.h"
#include "views/pages/summary/summary_content.h"

class QScrollArea;
class QVBoxLayout;

namespace strata::views {

class AdviceRows;
class AdviceSource;
class CurveOverview;
class LedgerPanel;
class LedgerSource;
class SummaryJumps;

/// What someone whose run just died reads first: the verdict, the failed request if there is one, what the
/// memory is for and what fills the peak; beside it whether the figures can be trusted, waste, settings and
/// numbers. Shown from the outline of a session while the rest of it loads; what is shown stays as it is when
/// that says the same. The verdict and the curves go on with every newer generation; the rest is made ready
/// beside it, part by part, and takes its place at once.
class SummaryPage : public Page {
    Q_OBJECT
public:
    explicit SummaryPage(Document& document, QWidget* parent = nullptr);
    ~SummaryPage() override;

    [[nodiscard]] QString id() const override { return QStringLiteral("summary"); }
    [[nodiscard]] QString title() const override { return tr("Summary"); }
    [[nodiscard]] QString absence() const override { return {}; }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("summary"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::Nothing; }
    /// This, copyText() and writeCsv() are of the ledger while that has the keyboard.
    [[nodiscard]] QString commandLine() const override;
    [[nodiscard]] QString copyText() const override; ///< the verdict, where it fits, what fills the peak
    [[nodiscard]] bool hasCsv() const override { return true; }
    [[nodiscard]] bool writeCsv(QIODevice& out) const override; ///< what fills the peak, every line
    [[nodiscard]] bool busy() const override;
    [[nodiscard]] QStringList unfolded() const override { return m_facts.unfolded(); }
    void setUnfolded(const QStringList& parts) override { m_facts.setUnfolded(parts); }
    void setPalette(const Palette& palette) override;

Q_SIGNALS:
    void whatIfAsked(const strata::model::Scenario& scenario); ///< the page What-if should come up with it

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void refresh();
    void rebuild();
    void goOn();
    void makeNext();
    [[nodiscard]] SummaryContent begin(); // content of the newest data, without its parts
    void arrange(const SummaryContent& content) const;
    void showContent(const SummaryContent& content);
    /// Makes the next part of the page, one a turn of the event loop: all at once would hold up the window.
    /// A part that has nothing to say stays empty.
    void addNextPart();
    void fillCurves(QVBoxLayout& part, const SummaryData& device);
    void fillAdvice(QVBoxLayout& part, const SummaryData& device);
    void fillLedger(QVBoxLayout& part, const SummaryData& device);
    [[nodiscard]] CurveOverview* curves(const QWidget* content) const; ///< nullptr: it has none
    void showCurves();
    void recolour();
    [[nodiscard]] const LedgerPanel* ledgerInUse() const; ///< nullptr: the keyboard is elsewhere
    void refreshLedger();
    void refreshAdvice();
    void adviceChanged();
    void showAdvice(AdviceRows& rows) const;
    void editRules();

    std::shared_ptr<const SummaryData> m_data; // the newest
    SummaryContent m_shown;
    SummaryContent m_next; // of a newer generation, while it is made
    LedgerSource* m_ledger;
    AdviceSource* m_advice;
    SummaryJumps* m_jumps;
    PeakParts m_peak;
    FactColumn m_facts;
    QScrollArea* m_scroll;
    QTimer m_step; // runs while parts are missing
    QTimer m_rest; // between two generations: figures are there to be read
    bool m_late = false; // a newer generation came while the page was in the background
};

} // namespace strata::views
