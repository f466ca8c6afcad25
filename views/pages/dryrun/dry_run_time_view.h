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
    DryRunTimeView(const DryRunStepTime& time, const Palette& palette, QWidget* parent = nullptr);

    /// All figures as tab-separated lines, for the clipboard.
    [[nodiscard]] static QStringList asLines(const DryRunStepTime& time);

private:
    void addKinds(const DryRunStepTime& time, const Palette& palette);
    void addCards(const DryRunStepTime& time, const Palette& palette);
    void addRest(const DryRunStepTime& time);
};

} // namespace strata::views
