// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/analysis/oom/oom_next.h"
#include "model/analysis/allocator/oom_verdict.h"
#include "model/analysis/summary/ooms.h"
#include "views/style/palette.h"

#include <vector>

namespace strata::views {

/// What would have been needed: "Even with all free memory in one piece, 764 MiB were missing.", or that the
/// free pieces together would have been enough. What a replay says of it is better.
[[nodiscard]] QString oomConclusion(const model::OutOfMemory& oom);

/// What to do so that a request which was refused is served, as a replay of its recording proved: three
/// settings at most, each to be copied.
class AdviceList : public QWidget {
    Q_OBJECT
public:
    AdviceList(const model::OomVerdict& verdict, const Palette& palette, QWidget* parent = nullptr);
};

/// What to do besides those settings: model::nextSteps(), each command to be copied.
class NextStepList : public QWidget {
    Q_OBJECT
public:
    NextStepList(
        const std::vector<model::NextStep>& steps, const Palette& palette, QWidget* parent = nullptr);
};

/// One failed request as four figures and two bars to one scale: what the device held, and what was asked.
class OomPanel : public QWidget {
    Q_OBJECT
public:
    /// `conclusion` stands below the bars.
    OomPanel(const model::OutOfMemory& oom, const QString& conclusion, const Palette& palette,
        QWidget* parent = nullptr);
};

} // namespace strata::views
