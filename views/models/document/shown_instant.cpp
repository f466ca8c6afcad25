// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/shown_instant.h"

#include "model/analysis/allocator/fragmentation.h"
#include "model/analysis/summary/range_peak.h"

namespace strata::views {

std::optional<model::EventIndex> lastOutOfMemory(const DeviceData& device)
{
    const auto& all = device.summary->outOfMemory;
    return all.empty() ? std::nullopt : std::optional(all.back().event);
}

model::EventIndex shownInstant(const DeviceData& device, const std::optional<EventRange>& selection)
{
    if (selection)
        return model::instantWithin(*device.timeline, selection->first, selection->last);
    return lastOutOfMemory(device).value_or(device.trace->totals().requestedPeakEvent);
}

model::EventIndex shownInstant(Document& document)
{
    const auto device = document.device();
    return device ? shownInstant(*device, document.viewState().selection()) : -1;
}

model::EventIndex shownReservedInstant(Document& document)
{
    const auto device = document.device();
    if (!device || document.viewState().selection())
        return shownInstant(document);
    return lastOutOfMemory(*device).value_or(model::reservedPeakInstant(*device->trace));
}

} // namespace strata::views
