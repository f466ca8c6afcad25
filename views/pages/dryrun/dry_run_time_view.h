// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/programs/dry_run_result.h"
#include "views/style/palette.h"

namespace strata::views {

/// How long a step takes at least, of a dry run that was asked: the sentence, the kinds of operators by their
/// share, the cards, and what is in none of these figures. Every figure is one of the command's JSON. Made
/// anew for each outcome.
class DryRunTimeView : public QWidget {
    Q_OBJECT
public:
    DryRunTimeView(const model::DryRunTime& time, const Palette& palette, QWidget* parent = nullptr);

    /// All figures as tab-separated lines, for the clipboard.
    [[nodiscard]] static QStringList asLines(const model::DryRunTime& time);

private:
    void addKinds(const model::DryRunTimeFigures& step, const Palette& palette);
    void addCards(const model::DryRunTimeFigures& step, const QString& simulated, const Palette& palette);
    void addRest(const model::DryRunTimeFigures& step);
};

} // namespace strata::views
