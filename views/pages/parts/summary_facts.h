// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/models/document/document.h"

#include <optional>
#include <vector>

namespace strata::views {

/// One line of figures on the Summary page: "reserved at its peak", "12.9 GiB", "13,873,741,824 B".
struct Fact {
    QString label;
    QString value;
    QString exact;
    std::optional<model::EventIndex> event; ///< a click shows this instant
    bool words = false; ///< no figure: "no times recorded"
};

/// What a word of the allocator means, in the sentence of the manual (docs/words.md); empty for others.
/// "requested, peak" is about "requested".
[[nodiscard]] QString aboutWord(const QString& label);

[[nodiscard]] std::vector<Fact> numberFacts(const SummaryData& device);
[[nodiscard]] std::vector<Fact> wasteFacts(const SummaryData& device);
/// What the driver said was in use; empty where it was not recorded.
[[nodiscard]] std::vector<Fact> driverFacts(const SummaryData& device);
/// Pinned host memory; empty where the snapshot does not have it.
[[nodiscard]] std::vector<Fact> hostFacts(const model::Recording& recording);

/// What was simulated, and how: empty for a real device.
[[nodiscard]] std::vector<Fact> simulationFacts(const model::Recording& recording);

/// Allocator settings in words ("max_split_size", "unlimited"), those that differ from PyTorch's defaults
/// first.
struct SettingFact {
    QString key;
    QString value;
    bool usual = true; ///< PyTorch's default
};
[[nodiscard]] std::vector<SettingFact> settingFacts(const model::Recording& recording);

/// The verdict as rich text: figures bold, those with an instant as links "event:N" in `link`, or in
/// the usual colour of links.
[[nodiscard]] QString verdictHtml(const std::vector<model::Sentence>& verdict, const QString& link);
[[nodiscard]] QString verdictPlain(const std::vector<model::Sentence>& verdict);

} // namespace strata::views
