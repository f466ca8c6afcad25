// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/base/background_job.h"
#include "views/models/document/run_ranks.h"
#include "views/style/palette.h"
#include "views/widgets/empty_notice.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace strata::views {

class PlainTableView;
class RankGrid;

/// The page Ranks: the traces of the ranks of one run, which of them the others wait for, and why. Reads them
/// in the background. GUI thread only.
class RunRanksPage : public QWidget {
    Q_OBJECT
public:
    explicit RunRanksPage(QWidget* parent = nullptr);

    void open(const QStringList& paths); ///< instead of those before
    void saveMerged(const QString& path); ///< all of them as one trace, then fileWanted() of that
    [[nodiscard]] bool reading() const { return m_job.running(); }
    [[nodiscard]] const std::shared_ptr<const RunRanks>& ranks() const { return m_ranks; } ///< nullptr: none
    [[nodiscard]] QString verdict() const;
    [[nodiscard]] RankGrid& grid() const { return *m_grid; }
    [[nodiscard]] PlainTableView& table() const { return *m_table; }
    [[nodiscard]] EmptyNotice& notice() const { return *m_notice; }

    void setPalette(const Palette& palette);
    void setBackTo(const QString& title); ///< what is shown again when it is left; empty: the start
    [[nodiscard]] QString copyText() const;
    [[nodiscard]] QString commandLine() const;

Q_SIGNALS:
    void filesWanted(); ///< the user is to choose traces
    void fileWanted(const QString& path); ///< a rank's, in the window
    void mergeWanted(); ///< the user is to say where all of them are written as one trace
    void backRequested();
    void changed();
    void hoverText(const QString& text);

private:
    void show(model::Result<std::shared_ptr<const RunRanks>> opened);
    void openRank(quint32 rank);
    void sayMerging(const QString& text, bool isOver);
    [[nodiscard]] static EmptyNotice::Text ask(const QString& title, const QString& reason); // for traces
    void showNothing(const EmptyNotice::Text& text);

    BackgroundJob m_job;
    std::shared_ptr<const RunRanks> m_ranks;
    QPushButton *m_back, *m_choose, *m_merge;
    QLabel *m_verdict, *m_legend;
    QStackedWidget* m_body; // ranks, nothing
    RankGrid* m_grid;
    PlainTableView* m_table;
    EmptyNotice* m_notice;
};

} // namespace strata::views
