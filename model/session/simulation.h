// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/sentence.h"
#include "model/trace/recording.h"
#include "model/wire/info.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

/// What a dry run wrote into its recording about the device that it simulated and the program that it ran.
/// The file may be anybody's: every field is what it says, and empty or zero where it says nothing that makes
/// sense.
struct Simulation {
    static constexpr std::string_view kSetting
        = wire::settings::kSimulatedDevice; ///< among the allocator's settings

    static constexpr std::string_view kAtLeast = "at least"; ///< what "durations" are where they are bounds

    std::string device; ///< of the catalogue: "RTX-4090-24GB"
    bool areLeastDurations = false; ///< of work: else round figures of no card
    std::int64_t capacityBytes = 0; ///< of each of its devices, as PyTorch sees it
    std::int64_t devices = 0;
    std::string command; ///< the program and its arguments, quoted for a shell
    std::vector<std::pair<std::string, std::string>> options; ///< the rest, as JSON, in the file's order
};

/// What `strata record` writes about the device that it simulates; `strata dryrun` writes more.
struct SimulatedDevice {
    std::string name; ///< of the catalogue
    std::uint64_t capacityBytes = 0; ///< of each
    int devices = 1;
};

template <> struct Fields<SimulatedDevice> {
    static constexpr std::tuple all{
        field("device", Unit::None, "card of the catalogue", &SimulatedDevice::name),
        field("capacity_bytes", Unit::Bytes, "memory of each device", &SimulatedDevice::capacityBytes),
        field("devices", Unit::Count, "devices that were simulated", &SimulatedDevice::devices),
    };
};

/// None where the recording is of a real device. O(size of the setting).
[[nodiscard]] std::optional<Simulation> simulationOf(const Recording& recording);

/// What the recording has of it, as a JSON object; empty where there is none.
[[nodiscard]] std::string simulationJson(const Recording& recording);

/// "measured"; of a simulated device "at_least", or "round" for figures of no card.
[[nodiscard]] std::string_view durationsWord(const Recording& recording);

/// What times of work on a simulated device are worth; nothing of those of a real one.
[[nodiscard]] std::vector<Sentence> sayDurations(const Recording& recording);

} // namespace strata::model
