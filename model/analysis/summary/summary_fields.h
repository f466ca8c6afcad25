// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/range_peak.h"
#include "model/analysis/summary/summary.h"
#include "model/base/answer_fields.h"
#include "model/trace/recording.h"

#include <array>
#include <string>
#include <tuple>

namespace strata::model {

/// A group, with the table that knows its label.
struct LabelledGroup {
    const GroupTable* table;
    const GroupSum* sum;
};

template <> struct Fields<LabelledGroup> {
    static constexpr std::tuple all{
        field("key", Unit::None, "the line of code, or what else groups are made by",
            [](const LabelledGroup& group) -> const std::string& {
                return group.table->label(group.sum->group);
            }),
        field("bytes", Unit::Bytes, "requested bytes of its blocks",
            within(&LabelledGroup::sum, &GroupSum::bytes)),
        field("blocks", Unit::Count, "its blocks", within(&LabelledGroup::sum, &GroupSum::blocks)),
    };
};

template <> struct Fields<RangePeak> {
    static constexpr std::tuple all{
        field("from", Unit::Event, "first event of the range", &RangePeak::first),
        field("to", Unit::Event, "last event of the range", &RangePeak::last),
        field("requested_bytes_peak", Unit::Bytes, "peak of requested bytes within the range",
            &RangePeak::requestedBytes),
        field("requested_peak_event", Unit::Event, "first event with that peak",
            within(&RangePeak::groups, &LiveGroups::event)),
        field("reserved_bytes_peak", Unit::Bytes,
            "peak of reserved bytes within the range; null: not recorded", &RangePeak::reservedBytes),
        field("reserved_peak_event", Unit::Event, "first event with that peak; null: not recorded",
            &RangePeak::reservedEvent),
    };
};

template <> struct Fields<DriverSummary> {
    static constexpr std::tuple all{
        field("readings", Unit::Count, "how often the driver was asked", &DriverSummary::readings),
        field("used_bytes_peak", Unit::Bytes, "most that all processes used", &DriverSummary::usedBytesPeak),
        field("process_bytes_peak", Unit::Bytes, "most that the recorded process used; null: not known",
            &DriverSummary::processBytesPeak),
        field("outside_bytes_peak", Unit::Bytes,
            "most that the process used beyond what PyTorch had reserved; null: not known",
            &DriverSummary::outsideBytesPeak),
    };
};

template <> struct Fields<Needs> {
    static constexpr std::tuple all{
        field(
            "needed_bytes", Unit::Bytes, "peak of reserved bytes, with a request that failed", &Needs::bytes),
        field("at_least", Unit::None, "the run may need more: a part was not recorded or a request failed",
            &Needs::atLeast),
        field("cached_before_bytes", Unit::Bytes,
            "of that, cached when recording began; 0: less than a tenth, or not known",
            &Needs::cachedBeforeBytes),
        field("outside_bytes", Unit::Bytes, "most that CUDA itself takes of a card for a process",
            [](const Needs&) { return outsideBytesOfProcess(); }),
        field("least_outside_bytes", Unit::Bytes, "least that CUDA itself takes of a card for a process",
            [](const Needs&) { return leastOutsideBytesOfProcess(); }),
        field("text", Unit::None, "where the run fits, in words",
            [](const Needs& needs) { return textOf(needs.text()); }),
        field("cards", Unit::None,
            "the cards of the catalogue, smallest first; empty: not recorded on an NVIDIA GPU", &Needs::cards),
        field("ran_on", Unit::None, "card that was recorded; null: unknown, `cards` assume its kernels",
            [](const Needs& needs) {
                return needs.ranOn ? std::optional(needs.ranOn->name) : std::nullopt;
            }),
    };
};

template <> struct Fields<WasteAtPeak> {
    static constexpr std::tuple all{
        field("rounding", Unit::Bytes, "lower and upper bound",
            [](const WasteAtPeak& waste) {
                return std::array{ waste.rounding.least, waste.rounding.most };
            }),
        field("free_in_segments", Unit::Bytes, "lower and upper bound",
            [](const WasteAtPeak& waste) {
                return std::array{ waste.freeInSegments.least, waste.freeInSegments.most };
            }),
    };
};

template <> struct Fields<HostMemory> {
    static constexpr std::tuple all{
        field("segments", Unit::Count, "segments of pinned memory", &HostMemory::segments),
        field("reserved_bytes", Unit::Bytes, "their bytes", &HostMemory::reservedBytes),
        field("reserved_bytes_peak", Unit::Bytes, "most that was reserved; null: not recorded",
            &HostMemory::reservedBytesPeak),
        field("allocated_bytes", Unit::Bytes, "bytes in use", &HostMemory::allocatedBytes),
        field("events", Unit::Count, "events of pinned memory", &HostMemory::events),
    };
};

} // namespace strata::model
