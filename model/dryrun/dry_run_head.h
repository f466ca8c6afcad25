// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"

#include <cstdint>
#include <optional>
#include <string>

namespace strata::model {

/// What every answer of `strata dryrun` has.
struct DryRunHead {
    int schema = 0; ///< kSchema in documents that are understood here
    bool simulated = false; ///< true in every answer
    std::string device;
    std::int64_t capacityBytes = 0;
    std::optional<std::string> stepsNote;

    static constexpr int kSchema = 1;
};

struct HeadFields {
    static constexpr auto schema = field("schema", Unit::None, "1", &DryRunHead::schema);
    static constexpr auto simulated
        = field("simulated", Unit::None, "true: the device is simulated", &DryRunHead::simulated);
    static constexpr auto device
        = field("device", Unit::None, "name of the simulated card", &DryRunHead::device);
    static constexpr auto capacity
        = field("capacity_bytes", Unit::Bytes, "memory of each simulated device", &DryRunHead::capacityBytes);
    static constexpr auto stepsNote = field("steps_note", Unit::None,
        "why `--steps` did not end the program; null: there is nothing to say", &DryRunHead::stepsNote);
};

} // namespace strata::model
