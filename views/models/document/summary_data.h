// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/summary.h"
#include "model/digest/outline.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::views {

class DocumentColours;
struct DeviceData;
struct ReplayData;

/// What the page Summary shows of one device: from its digest, while the rest of the session still loads, or
/// from its events. Both say the same of a file whose digest is right. Immutable; any thread.
struct SummaryData {
    std::shared_ptr<const void> owner; ///< keeps what the pointers lead to alive
    std::shared_ptr<const void> source; ///< DeviceData::source; none of a digest
    const model::Recording* recording = nullptr;
    std::shared_ptr<const model::DeviceSummary> summary;
    std::shared_ptr<const model::GroupTable> byLine; ///< of the lines that the summary names, at least
    std::span<const model::Finding> findings;
    std::vector<int> lineRank; ///< group -> its colour, for Palette::group(); -1: not known yet
    std::shared_ptr<const ReplayData> replay; ///< later

    /// DeviceData::follows()
    [[nodiscard]] bool follows(const SummaryData& other) const
    {
        return summary->device == other.summary->device
            && (recording == other.recording || (source && source == other.source));
    }
    /// Since the first event; none without times and at other events than the peak.
    [[nodiscard]] std::optional<std::int64_t> timeOfPeakNs() const;
};

[[nodiscard]] std::shared_ptr<const SummaryData> summaryOf(const DeviceData& device);

/// Of each device, in their order, with the colours of a document. O(stacks that the digests name).
[[nodiscard]] std::vector<std::shared_ptr<const SummaryData>> summariesOf(
    const std::shared_ptr<const model::SessionOutline>& outline, DocumentColours& colours);

/// Whether a page shows the same for both, colours apart.
[[nodiscard]] bool sameFigures(const SummaryData& a, const SummaryData& b);

} // namespace strata::views
