// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/recorded_card.h"

#include "model/base/units.h"
#include "model/session/simulation.h"
#include "model/wire/info.h"

namespace strata::model {

namespace {

std::string factOf(const Recording& recording, const std::string& key)
{
    const auto fact = recording.facts.find(key);
    return fact == recording.facts.end() ? std::string() : fact->second;
}

} // namespace

const Card* recordedCard(const Recording& recording, int device)
{
    namespace info = wire::info;
    if (const auto simulation = simulationOf(recording); simulation && !simulation->device.empty())
        return findCard(simulation->device);
    const std::string name = factOf(recording, wire::deviceKey(info::kDevice, device, info::kDeviceName));
    if (name.empty())
        return nullptr;
    const std::string capacity
        = factOf(recording, wire::deviceKey(info::kDevice, device, info::kDeviceCapacity));
    return cardOfDevice(name, parseBytes(capacity).value_or(0));
}

std::string recordedCommand(const Recording& recording)
{
    if (const auto simulation = simulationOf(recording); simulation && !simulation->command.empty())
        return simulation->command;
    const std::string command = factOf(recording, wire::info::kCommand);
    return command.empty() ? "python train.py" : command;
}

std::string recordAgain(const Recording& recording)
{
    const auto simulation = simulationOf(recording);
    const Card* const card
        = simulation && !simulation->device.empty() ? findCard(simulation->device) : nullptr;
    std::string command = "strata record ";
    if (card != nullptr) {
        command += "--simulated " + card->name + " ";
        if (simulation->capacityBytes > 0 && simulation->capacityBytes != card->capacityBytes)
            command += "--capacity " + std::to_string(simulation->capacityBytes) + " ";
        if (simulation->devices > 1)
            command += "--devices " + std::to_string(simulation->devices) + " ";
    }
    // A recording that has a command may be run.strata itself.
    const bool isOurs = simulation || !factOf(recording, wire::info::kCommand).empty();
    return command + (isOurs ? "-o again.strata -- " : "-o run.strata -- ") + recordedCommand(recording);
}

} // namespace strata::model
