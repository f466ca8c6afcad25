// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/whatif_report.h"

#include "model/analysis/summary/recorded_card.h"
#include "model/trace/producer.h"

#include <algorithm>

namespace strata::model {

std::optional<ConfirmedPeaks> WhatIfDevice::confirmedPeaks() const
{
    if (confirmed() == nullptr && requestedConfirmed() == nullptr)
        return std::nullopt;
    const PeakFigures& changed = confirmation->changed;
    ConfirmedPeaks peaks{ .requestedBytesPeak = changed.requestedBytesPeak };
    if (confirmed() != nullptr) {
        peaks.allocatedBytesPeak = changed.allocatedBytesPeak;
        peaks.reservedBytesPeak = changed.reservedBytesPeak;
    }
    return peaks;
}

std::vector<CardMargin> WhatIfDevice::fitsOn() const
{
    if (!isAnswered() || needsAtLeast() || acceleratorOf(trace->recording()) != Accelerator::Cuda)
        return {};
    return cardsWithRoom(roomBytes(), false, 0, recordedCard(trace->recording(), trace->device()));
}

std::optional<std::string_view> WhatIfReport::evidence() const
{
    std::optional<WhatIfEvidence> weakest;
    bool byCalls = false;
    for (const WhatIfDevice& device : devices) {
        byCalls = byCalls || (device.confirmedPeaks() && device.confirmation->byCalls);
        if (!device.refused)
            weakest = std::max(weakest.value_or(WhatIfEvidence::Replay), device.prediction.evidence);
    }
    if (weakest)
        return evidenceWord(*weakest);
    return byCalls ? std::optional<std::string_view>("calls") : std::nullopt;
}

std::vector<WhatIfChange> WhatIfReport::changes() const
{
    std::vector<WhatIfChange> changes;
    for (std::string& text : scenario.texts())
        changes.push_back({ std::move(text), evidence() });
    if (scenario.settings)
        changes.back().evidence = evidenceWord(WhatIfEvidence::Replay);
    return changes;
}

bool WhatIfReport::planIsMet() const
{
    if (!plan)
        return true;
    const auto* const checkpoints = std::get_if<CheckpointPlan>(&*plan);
    return checkpoints != nullptr ? checkpoints->met : std::get<FitPlan>(*plan).met();
}

} // namespace strata::model
