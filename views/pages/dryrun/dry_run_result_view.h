// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/programs/dry_run_job.h"
#include "views/style/palette.h"

class QBoxLayout;
class QVBoxLayout;

namespace strata::views {

/// The figures of a dry run, below its verdict: peaks, what fills the peak, the cards it fits on, what is
/// assumed; of --change both runs side by side, of --fit what was tried. Every figure is one of the command's
/// JSON. Made anew for each outcome; two columns where there is room.
class DryRunResultView : public QWidget {
    Q_OBJECT
public:
    DryRunResultView(const DryRunOutcome& outcome, const Palette& palette, QWidget* parent = nullptr);

    /// All figures as tab-separated lines, for the clipboard.
    [[nodiscard]] QString asText() const;

Q_SIGNALS:
    void eachCardRequested(); ///< the same on each card, too

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void addPeaks(QVBoxLayout& column);
    void addDeviceFacts(QVBoxLayout& column, const DryRunDevice& device);
    void addDeviceTable(QVBoxLayout& column);
    void addGroups(QVBoxLayout& column);
    void addChanged(QVBoxLayout& column);
    void addCards(QVBoxLayout& column);
    void addOtherCards(QVBoxLayout& part, const QStringList& names);
    void addEachCard(QVBoxLayout& column);
    void addCardsToTry(QVBoxLayout& column, const DryRunFigures& run);
    void addOutside(QVBoxLayout& column);
    void addTrials(QVBoxLayout& column, const QString& title, const std::vector<DryRunTrial>& trials);

    DryRunOutcome m_outcome;
    const DryRunResult& m_result; // of m_outcome
    Palette m_palette;
    QBoxLayout* m_columns;
    QWidget* m_story;
    QWidget* m_side;
};

} // namespace strata::views
