// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/integrity.h"
#include "model/base/answer_fields.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <tuple>
#include <vector>

namespace strata::model {

struct CheckedDevice {
    int device = 0;
    Integrity integrity;
};

/// What `strata check` answers of a file.
struct CheckAnswer {
    std::string file;
    std::vector<CheckedDevice> devices;
    std::vector<int> wrongDigests; ///< devices of which the file says a summary that its events do not

    [[nodiscard]] bool exact() const
    {
        return std::ranges::all_of(
            devices, [](const CheckedDevice& checked) { return checked.integrity.exact(); });
    }
};

/// A finding, with how many it stands for.
struct CountedFinding {
    const Finding* finding;
};

[[nodiscard]] inline auto counted(const std::vector<const Finding*>& findings)
{
    return findings | std::views::transform([](const Finding* finding) { return CountedFinding{ finding }; });
}

template <> struct Fields<CountedFinding> {
    static constexpr auto all = std::tuple_cat(fieldsOf<Finding>(&CountedFinding::finding),
        std::tuple{
            field("count", Unit::Count, "how many events or blocks the row stands for",
                within(&CountedFinding::finding, &Finding::count)),
        });
};

template <> struct Fields<CheckedDevice> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the device", &CheckedDevice::device),
        field("exact", Unit::None, "no breach was found",
            [](const CheckedDevice& checked) { return checked.integrity.exact(); }),
        field("breaches", Unit::None, "where figures of the recording contradict each other",
            [](const CheckedDevice& checked) { return counted(checked.integrity.breaches); }),
        field("notes", Unit::None, "what some figures rest on",
            [](const CheckedDevice& checked) { return counted(checked.integrity.notes); }),
    };
};

template <> struct Fields<CheckAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const CheckAnswer&) { return 1; }),
        field("file", Unit::None, "the recording", &CheckAnswer::file),
        field("exact", Unit::None, "no breach was found on any of the devices", &CheckAnswer::exact),
        field("devices", Unit::None, "the devices that were checked", &CheckAnswer::devices),
        field("wrong_digests", Unit::None, "devices whose kept summary differs from their events",
            &CheckAnswer::wrongDigests),
    };
};

} // namespace strata::model
