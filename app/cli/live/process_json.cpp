// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/process_json.h"

namespace strata::cli {

namespace {

std::optional<std::int64_t> known(std::int64_t figure)
{
    return figure < 0 ? std::nullopt : std::optional(figure);
}

} // namespace

void writeProcess(const model::LiveProcess& process, JsonWriter& json)
{
    json.member("pid", process.process);
    json.member("name", process.name.empty() ? std::nullopt : std::optional(process.name));
    json.member("job", process.job);
    json.member("rank", process.rank);
    json.member("world_size", process.worldSize);
    const bool isLive = process.state == model::ProcessState::Live;
    json.member("address", isLive ? std::optional(process.address.text()) : std::nullopt);
    json.member("state", model::stateName(process.state));
    json.key("devices").beginArray();
    if (process.totals)
        for (const wire::DeviceTotals& device : process.totals->devices) {
            json.beginObject();
            json.member("device", device.device);
            json.member("used_bytes", known(device.usedBytes));
            json.member("reserved_bytes", known(device.reservedBytes));
            json.member("requested_bytes", known(device.requestedBytes));
            json.endObject();
        }
    json.endArray();
    json.member("events_per_second", process.totals ? known(process.totals->eventsPerSecond) : std::nullopt);
    json.member("file", process.file.empty() ? std::nullopt : std::optional(process.file));
}

} // namespace strata::cli
