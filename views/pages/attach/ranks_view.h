// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/live/live_ranks.h"
#include "views/style/palette.h"

#include <memory>

class QLabel;
class QPushButton;

namespace strata::views {

class PlainTableView;
class RankCurves;

/// The ranks of a job side by side, while they run: how they differ in a sentence, their curves, and what
/// differs most. GUI thread only.
class RanksView : public QWidget {
    Q_OBJECT
public:
    explicit RanksView(QWidget* parent = nullptr);
    ~RanksView() override;

    /// Follows these, instead of those before; none: follows nothing.
    void watch(const std::vector<model::LiveProcess>& processes);
    [[nodiscard]] const LiveRanks* ranks() const { return m_ranks.get(); } ///< nullptr: none
    [[nodiscard]] RankCurves& curves() const { return *m_curves; }
    [[nodiscard]] PlainTableView& table() const { return *m_table; }
    [[nodiscard]] QString verdict() const; ///< plain

    void setPalette(const Palette& palette);
    [[nodiscard]] QString copyText() const;

Q_SIGNALS:
    void backRequested();
    void opened(const strata::model::LiveProcess& process);

protected:
    bool event(QEvent* event) override;

private:
    void refresh();
    void open(int row);

    std::unique_ptr<LiveRanks> m_ranks;
    QPushButton* m_back;
    QLabel* m_verdict;
    RankCurves* m_curves;
    PlainTableView* m_table;
    QPushButton* m_open;
};

} // namespace strata::views
