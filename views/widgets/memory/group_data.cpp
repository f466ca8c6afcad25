// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/group_data.h"

namespace strata::views {

std::shared_ptr<const GroupData> makeGroupData(
    std::shared_ptr<const DeviceData> device, model::Grouping grouping, const std::stop_token& stop)
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
    data->table = device->groups(grouping);
    if (stop.stop_requested())
        return nullptr;
    data->order = std::make_shared<model::LayerOrder>(*device->trace, device->timeline->live(), *data->table);
    data->rank = coloursOf(*device->colours, device->trace->device(), *data->table, data->order->groups());
    if (device->strips && !stop.stop_requested())
        data->blocks
            = std::make_shared<model::BlocksIndex>(*device->timeline, *device->strips, *data->table, stop);
    return stop.stop_requested() ? nullptr : data;
}

} // namespace strata::views
