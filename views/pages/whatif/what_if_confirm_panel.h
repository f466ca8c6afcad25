// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/whatif/confirm_job.h"
#include "views/models/whatif/what_if.h"

#include <map>
#include <optional>

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace strata::views {

class Segmented;

/// Runs what the page asks, so that it is known to the byte: the recorded program, which is shown and begins
/// only after a second click, or the calls of the recorded deep step. What came of a question is kept as long
/// as the recording is shown. GUI thread only.
class WhatIfConfirmPanel : public QWidget {
    Q_OBJECT
public:
    enum Way { Program, Calls };

    WhatIfConfirmPanel(WhatIf& whatIf, QWidget* parent = nullptr);

    void refresh(); ///< the question, or what is known of the device, is another
    void setWay(Way way);
    /// Of an answer; nullptr: it was not confirmed.
    [[nodiscard]] const Confirmation* confirmationOf(const WhatIfAnswer& answer) const;
    /// Of the question as it stands; nullptr: likewise.
    [[nodiscard]] const Confirmation* confirmation() const;
    /// The command that confirmed the question as it stands; empty: it was not confirmed.
    [[nodiscard]] QString confirmedBy() const;
    [[nodiscard]] bool running() const { return m_job.running(); }
    [[nodiscard]] ConfirmJob& job() { return m_job; }
    [[nodiscard]] QLineEdit& command() const { return *m_command; }
    [[nodiscard]] QLineEdit& folder() const { return *m_folder; }
    [[nodiscard]] QLineEdit& python() const { return *m_python; }
    [[nodiscard]] QPushButton& runButton() const { return *m_run; } ///< asks
    [[nodiscard]] QPushButton& agreeButton() const { return *m_agree; } ///< runs what was asked
    [[nodiscard]] QString lineText() const; ///< the command that is run
    [[nodiscard]] QString stateText() const; ///< what came of it, what keeps it from running

Q_SIGNALS:
    void changed(); ///< confirmationOf() may be another
    void runningChanged();

private:
    [[nodiscard]] ConfirmRequest request() const;
    [[nodiscard]] Way way() const;
    [[nodiscard]] QString whyNot() const; ///< nothing can be run, whatever the fields say; empty: it can
    [[nodiscard]] QString whatLacks() const; ///< in the command; empty: nothing
    void showState();
    [[nodiscard]] QString runningText() const;
    [[nodiscard]] QString cameText() const;
    void run();
    void ended(const ConfirmOutcome& outcome);

    WhatIf& m_whatIf;
    ConfirmJob m_job;
    const void* m_trace = nullptr; // that everything is of
    struct Kept {
        Confirmation confirmation;
        QString commandLine; // that came to it
    };
    [[nodiscard]] const Kept* kept() const; ///< of the question as it stands

    std::map<QString, Kept> m_kept; // by the command line of the question
    QString m_asked; // that of what runs
    QString m_problem; // of the last run
    Segmented* m_way;
    QStackedWidget* m_ways;
    QLineEdit* m_command;
    QLineEdit* m_folder;
    QLineEdit* m_python;
    QLabel* m_line;
    QLabel* m_state;
    QPushButton* m_run;
    QWidget* m_question; // whether it may run
    QPushButton* m_agree;
};

} // namespace strata::views
