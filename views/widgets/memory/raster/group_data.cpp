// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/group_data.h"

#include "model/analysis/summary/groups.h"
#include "views/models/document/group_colours.h"

namespace strata::views {

std::shared_ptr<const GroupData> makeGroupData(std::shared_ptr<const DeviceData> device,
    model::Grouping grouping, const std::shared_ptr<const GroupData>& earlier, const std::stop_token& stop)
{
    auto data = std::make_shared<GroupData>();
    data->device = device;
    if (grouping == model::Grouping::Line) {
        data->table = device->byLine;
        data->order = device->lineOrder;
        data->rank = device->lineRank;
        data->blocks = device->blocksIndex;
        return data;
    }
    const model::DeviceTrace& trace = *device->trace;
    const bool keepsRows = earlier && earlier->table->grouping() == grouping
        && trace.keepsRowsOf(*earlier->device->trace);
    data->table = keepsRows && !model::infoOf(grouping).ofLabels && grouping != model::Grouping::Site
        ? std::make_shared<const model::GroupTable>(trace, *earlier->table)
        : device->groups(grouping);
    if (!data->table || stop.stop_requested())
        return nullptr;
    const model::LiveIndex& live = device->timeline->live();
    const bool sharesGroups = keepsRows && data->table->sharesGroups(*earlier->table);
    data->order = sharesGroups
        ? std::make_shared<const model::LayerOrder>(trace, live, *data->table, *earlier->order)
        : std::make_shared<const model::LayerOrder>(trace, live, *data->table);
    const model::LiveGroups peak
        = model::groupsAt(*device->timeline, *data->table, trace.totals().requestedPeakEvent);
    data->rank = coloursOf(*device->colours, trace.device(), *data->table,
        largestFirst(peak, *data->table, data->order->groups()));
    if (device->strips && !stop.stop_requested())
        data->blocks = sharesGroups && earlier->blocks && earlier->device->strips == device->strips
            ? std::make_shared<const model::BlocksIndex>(
                *device->timeline, *device->strips, *data->table, *earlier->blocks, stop)
            : std::make_shared<const model::BlocksIndex>(
                *device->timeline, *device->strips, *data->table, stop);
    return stop.stop_requested() ? nullptr : data;
}

} // namespace strata::views
