// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/whatif/what_if.h"
#include "views/pages/parts/page.h"
#include "views/pages/whatif/what_if_card.h"
#include "views/widgets/empty_notice.h"
#include "views/widgets/segmented.h"
#include "views/widgets/whatif/peak_chart.h"

class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;
class QSplitter;
class QStackedWidget;

namespace strata::views {

class KeptHeightLayout;
class Legend;
class PlainTableView;
class RunChart;
class TableFooter;
class WhatIfConfirmPanel;
class WhatIfPlanPanel;

/// What the peak would be, and whether it would fit, if something were another: changes as cards at the left,
/// at the right what they come to together: peaks, and memory over the run; below that single changes and
/// what each of them would save on top, plans, and what confirms.
class WhatIfPage : public Page {
    Q_OBJECT
public:
    enum Below {
        Alternatives,
        Peaks,
        Cards,
        Blocks,
        Plan,
        Confirm
    }; ///< belowWords() and choices: in this order

    explicit WhatIfPage(Document& document, QWidget* parent = nullptr);

    [[nodiscard]] QString id() const override { return QStringLiteral("whatif"); }
    [[nodiscard]] QString title() const override { return tr("What-if"); }
    [[nodiscard]] QString iconName() const override { return QStringLiteral("whatif"); }
    [[nodiscard]] FilterReach filterReach() const override { return FilterReach::Nothing; }
    [[nodiscard]] QString absence() const override { return segmentsAbsence(); }
    [[nodiscard]] QString commandLine() const override;
    void setPalette(const Palette& palette) override;
    [[nodiscard]] bool busy() const override;
    [[nodiscard]] QString copyText() const override; ///< of the table that is shown
    [[nodiscard]] bool hasCsv() const override;
    [[nodiscard]] bool writeCsv(QIODevice& out) const override;
    [[nodiscard]] QWidget* pictureWidget() override;
    [[nodiscard]] bool hasSvg() const override { return m_chart->picture().has_value(); }
    [[nodiscard]] bool saveSvg(const QString& path) override;

    void setScenario(const model::Scenario& scenario); ///< told as the user's choice
    void takeAlternative(std::uint32_t row); ///< of alternatives()
    void setBelow(Below below);
    [[nodiscard]] static QStringList belowWords(); ///< what commands call each Below
    [[nodiscard]] WhatIf& whatIf() { return m_whatIf; }
    [[nodiscard]] const std::vector<WhatIfCard*>& cards() const { return m_cards; }
    template <class Card> [[nodiscard]] Card& card() const
    {
        for (WhatIfCard* card : m_cards)
            if (auto* found = dynamic_cast<Card*>(card))
                return *found;
        Q_UNREACHABLE();
    }
    [[nodiscard]] PeakChart& chart() const { return *m_chart; }
    [[nodiscard]] RunChart& run() const { return *m_run; }
    [[nodiscard]] WhatIfPlanPanel& planPanel() const { return *m_plan; }
    [[nodiscard]] WhatIfConfirmPanel& confirmPanel() const { return *m_confirm; }
    [[nodiscard]] PlainTableView& table(Below below) const; ///< not of Confirm
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }
    [[nodiscard]] QString sentenceText() const;
    [[nodiscard]] QString evidenceText() const;
    [[nodiscard]] QString aboutText() const; ///< of the table below

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] static QList<Segmented::Choice> belowChoices();
    [[nodiscard]] QWidget* makeChanges();
    [[nodiscard]] QWidget* makeAnswer();
    [[nodiscard]] QWidget* makeFoot();
    void showDevice();
    void showAnswer();
    void drawCurves(); ///< of the answer
    void showAlternatives();
    void showTexts();
    void showAbout();
    void refreshCards();
    void collect(); ///< what the cards ask for becomes the question
    void copySetting();
    void copyCommand();

    WhatIf m_whatIf;
    bool m_late = false; // something changed while the page was in the background

    QLabel* m_sentence;
    QLabel* m_evidence;
    KeptHeightLayout* m_said; // both: pictures below stay in their place
    QStackedWidget* m_stack; // the parts, or why there are none
    QSplitter* m_splitter;
    std::vector<WhatIfCard*> m_cards;
    QScrollArea* m_area = nullptr; // that they stand in
    QPushButton* m_reset;
    QPushButton* m_copySetting;
    QPushButton* m_copyCommand;
    QWidget* m_pictures; // both
    PeakChart* m_chart;
    RunChart* m_run;
    Legend* m_legend; // of the latter
    BackgroundJob m_drawing{ Earlier::Stop, BackgroundJob::Thread::Beside };
    Segmented* m_choice;
    QComboBox* m_list; // the same choice, where there is little room
    WhatIfPlanPanel* m_plan;
    WhatIfConfirmPanel* m_confirm;
    QLabel* m_about; // what is shown below, or why nothing is
    QStackedWidget* m_tables;
    EmptyNotice* m_notice;
    TableFooter* m_footer;
    QWidget* m_foot = nullptr; // buttons, and that
};

} // namespace strata::views
