// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/whatif/what_if.h"
#include "views/models/whatif/what_if_plan.h"
#include "views/style/palette.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace strata::views {

class PlainTableView;

/// A plan beside the changes that are asked for: the goal, a button that looks for it, what was found as a
/// table, and the code to paste. GUI thread only.
class WhatIfPlanPanel : public QWidget {
    Q_OBJECT
public:
    WhatIfPlanPanel(WhatIf& whatIf, QWidget* parent = nullptr);

    void refresh(); ///< what can be asked is another
    void plan(); ///< looks for it, as the button does
    void setGoal(PlanGoal goal);
    void setColours(const Palette& palette);
    [[nodiscard]] WhatIfPlanner& planner() { return m_planner; }
    [[nodiscard]] PlainTableView& table() const { return *m_table; }
    [[nodiscard]] QLineEdit& budget() const { return *m_budget; }
    [[nodiscard]] QString sentenceText() const; ///< rich text
    [[nodiscard]] QWidget& hints() const { return *m_hints; } ///< a line and a button for each
    [[nodiscard]] QString code() const;
    [[nodiscard]] QString commandLine() const; ///< that prints the plan; empty: there is none

Q_SIGNALS:
    void taken(const strata::model::Scenario& scenario); ///< the plan is to become what is asked
    void announced(const QString& message); ///< for the foot of the page

private:
    void showPlan();
    void showHints();
    void showSentence();
    [[nodiscard]] bool isPlanOf(const WhatIfQuestion& question) const; ///< or it is taken over in that
    [[nodiscard]] static QString foundText(const WhatIfPlan& plan); ///< of one that was made
    [[nodiscard]] PlanGoal goal() const;
    [[nodiscard]] std::optional<std::int64_t> budgetBytes() const;

    WhatIf& m_whatIf;
    WhatIfPlanner m_planner;
    const void* m_trace = nullptr; // of what was found
    QComboBox* m_goal;
    QLineEdit* m_budget;
    QPushButton* m_plan;
    QLabel* m_sentence;
    PlainTableView* m_table;
    QPlainTextEdit* m_code;
    QWidget* m_hints;
    QPushButton* m_copy;
    QPushButton* m_take;
};

} // namespace strata::views
