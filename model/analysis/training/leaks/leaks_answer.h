// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/groups.h"
#include "model/analysis/training/leaks/leaks.h"
#include "model/base/answer_fields.h"
#include "model/trace/stack_fields.h"

#include <optional>
#include <ranges>
#include <string>
#include <string_view>

namespace strata::model {

/// What `strata leaks` answers of one device. Points to the trace.
struct LeaksAnswer {
    LeaksAnswer(std::string file, const DeviceTrace& trace, LeakReport report);

    std::string file;
    const DeviceTrace* trace;
    LeakReport report;
    GroupTable lines; ///< of the stacks of all sites

    [[nodiscard]] const std::string& lineOf(const LeakSite& site) const;
    [[nodiscard]] std::optional<std::string_view> moduleOf(const LeakSite& site) const;
};

/// What LeakSite::survivors holds: rows that are no event.
struct LeakSurvivors {
    const LeakGrowth* row;
};

template <> struct Fields<LeakPlace> {
    static constexpr std::tuple all{
        field("ordinal", Unit::Count, "which allocation of its step, from 0; null: not always the same",
            &LeakPlace::ordinal),
        field("requested_bytes", Unit::Bytes, "size; null: not always the same", &LeakPlace::requestedBytes),
        field("stream", Unit::None, "handle of the stream; null: not known, or not always the same",
            [](const LeakPlace& place) {
                return place.stream < 0 ? std::nullopt : std::optional(place.stream);
            }),
    };
};

template <> struct Fields<LeakGrowth> {
    static constexpr std::tuple all{
        field("step", Unit::Step, "the step that ends", &LeakGrowth::step),
        field("event", Unit::Event, "its last event", &LeakGrowth::event),
        field(
            "requested_bytes", Unit::Bytes, "requested bytes of the site then", &LeakGrowth::requestedBytes),
        field(
            "allocated_bytes", Unit::Bytes, "allocated bytes of the site then", &LeakGrowth::allocatedBytes),
        field("blocks", Unit::Count, "blocks of the site then", &LeakGrowth::blocks),
    };
};

template <> struct Fields<LeakSurvivors> {
    static constexpr std::tuple all{
        field("step", Unit::Step, "the step in which they were born",
            [](const LeakSurvivors& of) { return of.row->step; }),
        field("requested_bytes", Unit::Bytes, "their requested bytes",
            [](const LeakSurvivors& of) { return of.row->requestedBytes; }),
        field("allocated_bytes", Unit::Bytes, "their allocated bytes",
            [](const LeakSurvivors& of) { return of.row->allocatedBytes; }),
        field("blocks", Unit::Count, "how many", [](const LeakSurvivors& of) { return of.row->blocks; }),
    };
};

template <> struct Fields<LeakSite> {
    static constexpr std::tuple all{
        field("line", Unit::None, "line of the program that asks for the blocks",
            [](const LeakSite& site, const LeaksAnswer& in) { return in.lineOf(site); }),
        field("stack", Unit::None, "its whole stack",
            [](const LeakSite& site, const LeaksAnswer& in) {
                return StackIn{ &in.trace->recording(), site.stack };
            }),
        field("module", Unit::None,
            "path of the module that asked for the last of them; null: not told, or in none",
            [](const LeakSite& site, const LeaksAnswer& in) { return in.moduleOf(site); }),
        field("kind", Unit::None,
            "`leak`, `undecided`, `pending_stream`, `longer_inputs`, `reserved_only`, `freed_late`, "
            "`saturating`, `optimizer_state`",
            [](const LeakSite& site) { return leakKindWord(site.kind); }),
        field("bytes_per_step_requested", Unit::Bytes, "growth from step to step",
            &LeakSite::requestedBytesPerStep),
        field("bytes_per_step_allocated", Unit::Bytes,
            "the same, rounded as the allocator does: the figure of texts and tables",
            &LeakSite::allocatedBytesPerStep),
        field(
            "bytes_per_step_reserved", Unit::Bytes, "the same of segments", &LeakSite::reservedBytesPerStep),
        field("blocks_per_step", Unit::Count, "blocks that each step leaves; 0: one block grows",
            [](const LeakSite& site) { return fourDigits(site.blocksPerStep); }),
        field("first_step", Unit::Step, "the first that leaves something", &LeakSite::firstStep),
        field("steps_to_oom", Unit::Count,
            "that still fit at most; null: capacity is not known, or it does not grow",
            &LeakSite::stepsToOom),
        field("pattern", Unit::None, "what it likely is", &LeakSite::pattern),
        field("change", Unit::None, "what helps; empty: nothing has to", &LeakSite::change),
        field("why", Unit::None, "what decided", &LeakSite::why),
        field("place", Unit::None, "what blocks without a stack have in common; null: they have a stack",
            &LeakSite::place),
        field("growth", Unit::None, "what is alive at the ends of steps", &LeakSite::growth),
        field("survivors", Unit::None, "what is alive at the end, by the step of its birth",
            [](const LeakSite& site) {
                return site.survivors
                    | std::views::transform([](const LeakGrowth& row) { return LeakSurvivors{ &row }; });
            }),
        field("examples", Unit::None, "numbers of some of these blocks, from the first to the last",
            [](const LeakSite& site) {
                return site.examples | std::views::transform([](BlockId block) { return block.value; });
            }),
    };
};

template <> struct Fields<LeaksAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const LeaksAnswer&) { return 1; }),
        field("file", Unit::None, "the recording", &LeaksAnswer::file),
        field(
            "device", Unit::None, "number of the device", within(&LeaksAnswer::report, &LeakReport::device)),
        field("evidence", Unit::None,
            "how steps are known: `ranges`, `bits`, `marks`, `frames`, `rhythm` or `none`",
            [](const LeaksAnswer& answer) { return evidenceWord(answer.report.evidence); }),
        field("certainty", Unit::None,
            "how sure the steps are: `recorded`, `shown_by_stack`, `likely` or `unknown`; the verdict is "
            "`undecided` with the last two, unless the ends of steps are shown",
            [](const LeaksAnswer& answer) { return certaintyWord(answer.report.certainty); }),
        field("compared", Unit::None, "`rounds` of the outermost loop or of named ranges, or `steps`",
            [](const LeaksAnswer& answer) { return answer.report.rounds ? "rounds" : "steps"; }),
        field("steps", Unit::Count, "whose ends were compared",
            within(&LeaksAnswer::report, &LeakReport::steps)),
        field("warmup", Unit::Count, "the first of them, which do not count",
            within(&LeaksAnswer::report, &LeakReport::warmup)),
        field("verdict", Unit::None, "`none`, `found` or `undecided`",
            [](const LeaksAnswer& answer) { return leakVerdictWord(answer.report.verdict); }),
        field("why", Unit::None, "what decided", within(&LeaksAnswer::report, &LeakReport::why)),
        field("bytes_per_step_allocated", Unit::Bytes, "of all leaks: what `--max-growth` is held against",
            [](const LeaksAnswer& answer) { return answer.report.allocatedBytesPerStep(); }),
        field("capacity_bytes", Unit::Bytes, "of the device; null: not known",
            within(&LeaksAnswer::report, &LeakReport::capacityBytes)),
        field("steps_to_oom", Unit::Count, "of all leaks together",
            within(&LeaksAnswer::report, &LeakReport::stepsToOom)),
        field("sites", Unit::None, "leaks first, the fastest first",
            within(&LeaksAnswer::report, &LeakReport::sites)),
    };
};

} // namespace strata::model
