// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/device_data.h"
#include "views/style/palette.h"
#include "views/widgets/empty_notice.h"

#include <QString>

#include <optional>

namespace strata::views {

/// The first sentences of the page: what leaks, and how long it goes well. Rich text, with links to sites
/// (siteOfLink()). Of a training with steps and leaks.
[[nodiscard]] QString leaksVerdict(const TrainingData& training);
/// The same in one line for other pages, with a link to the page Leaks; empty where nothing leaks.
[[nodiscard]] QString leaksLine(const TrainingData& training);
/// What was compared with what, and how the steps were told.
[[nodiscard]] QString leaksFoundHow(const TrainingData& training);
/// Of more than three digits the first two: of what is no more than a bound.
[[nodiscard]] std::int64_t roughly(std::int64_t count);
/// A link to a row of LeakReport::sites; none if it is no such link.
[[nodiscard]] std::optional<std::size_t> siteOfLink(const QString& link);
/// What is said of one site: kind and line, the likely pattern, what to change, what decided. Rich text.
[[nodiscard]] QString leakSiteText(
    const TrainingData& training, const model::LeakSite& site, const Palette& palette);
/// What stands where no site does.
[[nodiscard]] EmptyNotice::Text noLeaksNotice(const TrainingData& training);
/// So few that nothing was compared.
[[nodiscard]] bool tooFewSteps(const model::LeakReport& report);
[[nodiscard]] QString leaksFooter(const TrainingData& training);

} // namespace strata::views
