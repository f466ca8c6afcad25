// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/device_data.h"

#include <stdexcept>

namespace strata::test {

std::shared_ptr<const views::DeviceData> makeDeviceData(
    const std::shared_ptr<const model::Session>& session, int device)
{
    auto data = std::make_shared<views::DeviceData>();
    data->session = session;
    data->trace = session->find(device);
    if (!data->trace)
        throw std::invalid_argument("no such device");
    const model::DeviceTrace& trace = *data->trace;
    data->timeline = std::make_shared<model::DeviceTimeline>(trace);
    data->byLine = std::make_shared<model::GroupTable>(trace, model::Grouping::Line);
    data->bySite = std::make_shared<model::GroupTable>(trace, model::Grouping::Site);
    data->summary = std::make_shared<model::DeviceSummary>(model::summarize(*data->timeline, *data->byLine));
    data->lineOrder = std::make_shared<model::LayerOrder>(trace, data->timeline->live(), *data->byLine);
    data->colours = std::make_shared<views::DocumentColours>(nullptr);
    data->lineRank = views::coloursOf(*data->colours, device, *data->byLine, data->lineOrder->groups());
    data->strips = std::make_shared<model::StripLayout>(trace);
    data->blocksIndex = std::make_shared<model::BlocksIndex>(*data->timeline, *data->strips, *data->byLine);
    return data;
}

std::shared_ptr<const views::DeviceData> makeDeviceData(std::unique_ptr<model::Recording> recording)
{
    auto session = model::Session::fromRecording(std::move(recording));
    if (!session || !(*session)->defaultDevice())
        throw std::invalid_argument("no device to show");
    return makeDeviceData(*session, (*session)->defaultDevice()->device());
}

} // namespace strata::test
