// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTreeWidget>

#include "views/models/live/process_finder.h"
#include "views/style/palette.h"

#include <vector>

namespace strata::views {

/// The processes that can be watched, in a table: ranks of one job below its name, a sparkline of what each
/// had in the last minutes. What is selected stays selected while figures change. GUI thread only.
class ProcessList : public QTreeWidget {
    Q_OBJECT
public:
    explicit ProcessList(QWidget* parent = nullptr);

    void setProcesses(const std::vector<ProcessFinder::Seen>& processes, std::int64_t nowMs);
    void setColours(const Palette& palette);

    /// The process that is current, or the ranks of the job that is; empty: none is.
    [[nodiscard]] std::vector<model::LiveProcess> chosen() const;
    /// The ranks of the job that is current or whose rank is; empty where it is of none.
    [[nodiscard]] std::vector<model::LiveProcess> chosenJob() const;
    [[nodiscard]] QString copyText() const; ///< all rows, with tabs between their cells

Q_SIGNALS:
    void choiceChanged();
    void opened(); ///< chosen(), by Enter or a double click

protected:
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void fitColumns();
    [[nodiscard]] QTreeWidgetItem* itemOf(const QString& key, QTreeWidgetItem* parent);

    Palette m_palette = Palette::light();
    std::vector<model::LiveProcess> m_processes; // by row
};

} // namespace strata::views
