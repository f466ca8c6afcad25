// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/analysis/out_of_memory.h"
#include "views/style/palette.h"

namespace strata::views {

/// What would have been needed: "Even with all free memory in one piece, 764 MiB were missing.", or that the
/// free pieces together would have been enough and what joins them.
[[nodiscard]] QString oomConclusion(const model::OutOfMemory& oom);

/// One failed request as four figures and two bars to one scale: what the device held, and what was asked.
class OomPanel : public QWidget {
    Q_OBJECT
public:
    OomPanel(const model::OutOfMemory& oom, const Palette& palette, QWidget* parent = nullptr);
};

} // namespace strata::views
