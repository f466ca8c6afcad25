// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/device_data.h"

#include "views/style/colour_table.h"

#include <stdexcept>
#include <utility>

namespace strata::test {

std::shared_ptr<const views::DeviceData> makeDeviceData(
    const std::shared_ptr<const model::Session>& session, int device)
{
    views::DeviceTask task;
    task.session = session;
    task.trace = session->find(device);
    if (!task.trace)
        throw std::invalid_argument("the session has no such device");
    task.colours = std::make_shared<views::DocumentColours>(nullptr);
    std::shared_ptr<const views::DeviceData> complete;
    views::deriveDevice(
        task, {}, [&](std::shared_ptr<const views::DeviceData> data) { complete = std::move(data); });
    return complete;
}

std::shared_ptr<const views::DeviceData> makeDeviceData(std::unique_ptr<model::Recording> recording)
{
    auto session = model::Session::fromRecording(std::move(recording));
    if (!session || !(*session)->defaultDevice())
        throw std::invalid_argument("no device to show");
    return makeDeviceData(*session, (*session)->defaultDevice()->device());
}

std::map<std::string, int> colouredNames(const views::DeviceData& device)
{
    std::map<std::string, int> names;
    for (std::uint32_t group = 0; group < device.byLine->count(); ++group)
        if (const int colour = device.lineRank[group]; colour < views::ColourTable::kGroupColours)
            names.emplace(device.byLine->label(group), colour);
    return names;
}

} // namespace strata::test
