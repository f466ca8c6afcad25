// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/live/process_finder.h"
#include "views/style/palette.h"

#include <vector>

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace strata::views {

class EmptyNotice;
class ProcessList;
class RanksView;

/// The page Attach: the processes that can be watched, found without asking, and the ranks of a job side by
/// side. Looks for processes while it is visible. GUI thread only.
class AttachPage : public QWidget {
    Q_OBJECT
public:
    explicit AttachPage(QWidget* parent = nullptr);

    [[nodiscard]] ProcessList& list() const { return *m_list; }
    [[nodiscard]] RanksView& ranks() const { return *m_ranks; }
    [[nodiscard]] bool showsRanks() const;
    [[nodiscard]] QString verdict() const;

    void setPalette(const Palette& palette);
    void setBackTo(const QString& title); ///< what is shown again when it is left; empty: the start
    void focusList();
    void watchRanks(); ///< of the job that is chosen in the list
    [[nodiscard]] QString copyText() const;
    [[nodiscard]] QString commandLine() const; ///< of what is chosen

Q_SIGNALS:
    void placeWanted(const QString& place); ///< as LivePlace names it, or a file
    void injectWanted(qint64 process, const QString& name); ///< a recorder is to be brought in
    void backRequested();
    void changed(); ///< what can be copied, and the command

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    QWidget* makeProcesses();
    QWidget* makeElsewhere();
    void refresh();
    void refreshChoice();
    void open(); // what is chosen
    void openElsewhere();
    void leaveRanks();

    ProcessFinder m_finder;
    QStackedWidget* m_stack; // processes, ranks
    QStackedWidget* m_body; // list, nothing
    QPushButton* m_back;
    QLabel* m_verdict;
    ProcessList* m_list;
    EmptyNotice* m_empty;
    QPushButton *m_attach, *m_watch;
    QLineEdit *m_address, *m_token;
    QPushButton* m_attachThere;
    RanksView* m_ranks;
};

} // namespace strata::views
