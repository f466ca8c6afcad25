// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>

#include "model/whatif/ask/scenario.h"
#include "views/pages/parts/page.h"
#include "views/style/rich_text.h"

class QBoxLayout;
class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace strata::views {

class AdviceRows;
class AdviceSource;
class CurveOverview;
class FoldSection;
class LedgerPanel;
class LedgerSource;
struct Fact;

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
    [[nodiscard]] QStringList unfolded() const override { return m_unfolded; }
    void setUnfolded(const QStringList& parts) override;
    void setPalette(const Palette& palette) override;

Q_SIGNALS:
    void whatIfAsked(const strata::model::Scenario& scenario); ///< the page What-if should come up with it

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    static constexpr std::size_t kPeakRows = 10; ///< lines of the peak that are shown and copied

    /// What the scroll area shows, or will show once all its parts are made.
    struct Content {
        std::shared_ptr<const SummaryData> data; ///< nullptr: it says why there is none
        QWidget* widget = nullptr;
        QBoxLayout* columns = nullptr; ///< beside or below each other
        QWidget* facts = nullptr; ///< the second of them
        QLabel* verdict = nullptr;
        QLabel* leaks = nullptr; ///< of the verdict, once they are known
        std::size_t parts = 0; ///< made
    };
    void refresh();
    void rebuild();
    void goOn();
    void makeNext();
    [[nodiscard]] Content begin();
    [[nodiscard]] QWidget* workVerdict();
    [[nodiscard]] QWidget* needsLabel(const model::Needs& needs);
    void arrange(const Content& content) const;
    void showContent(const Content& content);
    /// Makes the next part of the page, one a turn of the event loop: all at once would hold up the window.
    /// A part that has nothing to say stays empty.
    void addNextPart();
    void fillCurves(QVBoxLayout& part, const SummaryData& device);
    void fillDevices(QVBoxLayout& part, const SummaryData& device);
    void fillOutOfMemory(QVBoxLayout& part, const SummaryData& device);
    void fillAdvice(QVBoxLayout& part, const SummaryData& device);
    void fillLedger(QVBoxLayout& part, const SummaryData& device);
    void fillPeak(QVBoxLayout& part, const SummaryData& device);
    /// A part that is folded while nothing is wrong, unless the user has unfolded it; `name` as in
    /// unfolded().
    FoldSection* addFold(
        QVBoxLayout& part, const QString& name, const QString& title, const QString& essence, bool wrong);
    void addFacts(QVBoxLayout& part, const std::vector<Fact>& facts);
    void fillIntegrity(QVBoxLayout& part, const SummaryData& device);
    void fillWaste(QVBoxLayout& part, const SummaryData& device);
    void fillNumbers(QVBoxLayout& part, const SummaryData& device);
    void fillDriver(QVBoxLayout& part, const SummaryData& device);
    void fillHostMemory(QVBoxLayout& part, const SummaryData& device);
    void fillSimulation(QVBoxLayout& part, const SummaryData& device);
    void fillSettings(QVBoxLayout& part, const SummaryData& device);
    QWidget* shareList(const SummaryData& device, const std::vector<model::GroupSum>& groups,
        std::int64_t whole, std::size_t most);
    void addAmount(QVBoxLayout& part, const QString& amount, const QString& instant, model::EventIndex event);
    [[nodiscard]] CurveOverview* curves(const QWidget* content) const; ///< nullptr: it has none
    void showCurves();
    void recolour();
    void chooseLine(const text::LineLink& link);
    void showInstant(model::EventIndex event);
    void chooseGroup(model::Grouping grouping, const std::string& label, model::EventIndex event);
    [[nodiscard]] const LedgerPanel* ledgerInUse() const; ///< nullptr: the keyboard is elsewhere
    void refreshLedger();
    void refreshAdvice();
    void adviceChanged();
    void showAdvice(AdviceRows& rows) const;
    void showVerdict(QLabel& label, const std::vector<model::Sentence>& verdict) const;
    void showLeaks(const Content& content) const;
    void editRules();
    void focusOn(const std::string& line);
    void filterBy(const std::string& line, bool named);

    std::shared_ptr<const SummaryData> m_data; // the newest
    Content m_shown;
    Content m_next; // of a newer generation, while it is made
    std::string m_wanted; // a line that was clicked before there was a device to tell of it
    LedgerSource* m_ledger;
    AdviceSource* m_advice;
    QScrollArea* m_scroll;
    QTimer m_step; // runs while parts are missing
    QTimer m_rest; // between two generations: figures are there to be read
    bool m_late = false; // a newer generation came while the page was in the background
    bool m_allSettings = false; // those at their defaults are shown, too
    QStringList m_unfolded; // by the user, who wants to see them of every file
    QStringList m_folded; // by the user, though something is wrong: of this file alone
};

} // namespace strata::views
