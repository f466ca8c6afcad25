// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/deep/unused_memory.h"
#include "model/analysis/training/ledger/category_why.h"
#include "model/analysis/training/ledger/ledger.h"
#include "model/analysis/training/ledger/module_ledger.h"
#include "model/analysis/training/roles/rule_shares.h"
#include "model/analysis/training/steps/spikes.h"
#include "model/base/answer_fields.h"
#include "model/trace/stack_fields.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strata::model {

/// What `strata ledger` answers of one device. Points to the trace.
struct LedgerAnswer {
    const DeviceTrace* trace;
    Ledger ledger;
    std::optional<std::vector<ModuleRow>> modules; ///< the rows, with --by module
    std::optional<std::vector<Spike>> spikes; ///< at the peak alone
    std::optional<std::vector<UnusedLine>> unused; ///< likewise, where a deep step shows it
    std::optional<std::vector<RuleShare>> rules; ///< of the user's, where there are any
    std::optional<std::vector<CategoryWhy>> why; ///< with --why

    /// None where parameters are not counted.
    [[nodiscard]] std::optional<double> perParameter(std::int64_t bytes) const
    {
        if (!ledger.parameters)
            return std::nullopt;
        return static_cast<double>(bytes) / static_cast<double>(*ledger.parameters);
    }
};

[[nodiscard]] inline std::optional<JsonText> ratioText(const std::optional<double>& ratio)
{
    return ratio ? std::optional(decimals(*ratio, 6)) : std::nullopt;
}

[[nodiscard]] constexpr auto bytesOfCertainty(Certainty certainty)
{
    return [certainty](const CertaintyBytes& bytes) { return bytes.of(certainty); };
}

template <> struct Fields<CertaintyBytes> {
    static constexpr std::tuple all{
        field("recorded_bytes", Unit::Bytes, "of blocks whose category was recorded",
            bytesOfCertainty(Certainty::Recorded)),
        field("inferred_bytes", Unit::Bytes,
            "of all other blocks: `shown_by_stack_bytes`, `likely_bytes`, and unknown",
            [](const CertaintyBytes& bytes) {
                return wrapAdd(wrapAdd(bytes.of(Certainty::ShownByStack), bytes.of(Certainty::Likely)),
                    bytes.of(Certainty::Unknown));
            }),
        field("shown_by_stack_bytes", Unit::Bytes,
            "of blocks whose stack traces, or a rule of yours, show the category",
            bytesOfCertainty(Certainty::ShownByStack)),
        field("likely_bytes", Unit::Bytes, "of blocks whose category only sizes and lifetimes show",
            bytesOfCertainty(Certainty::Likely)),
        field("certainty", Unit::None,
            "that of most bytes: `recorded`, `shown_by_stack`, `likely` or `unknown`",
            [](const CertaintyBytes& bytes) { return certaintyWord(bytes.ofMost()); }),
    };
};

template <> struct Fields<LedgerRow> {
    static constexpr std::tuple all{
        field("category", Unit::None, "purpose of the blocks: `parameter`, ..., `unknown`",
            [](const LedgerRow& row) { return categoryWord(row.category); }),
        field("bytes", Unit::Bytes, "requested bytes", &LedgerRow::bytes),
        field("blocks", Unit::Count, "how many blocks", &LedgerRow::blocks),
        field(
            "", Unit::None, "", [](const LedgerRow& row) { return Inlined<CertaintyBytes>{ row.certain }; }),
        field("bytes_per_parameter", Unit::Bytes,
            "bytes divided by `parameters`; null: `parameters` is not known",
            [](const LedgerRow& row) { return ratioText(row.bytesPerParameter); }),
        field("expected_bytes_per_parameter", Unit::Bytes,
            "by the optimizer and the dtypes of the parameters; null: not known",
            [](const LedgerRow& row) { return ratioText(row.expectedBytesPerParameter); }),
        field("note", Unit::None, "what differs from expectation; null: nothing",
            [](const LedgerRow& row) { return row.note.empty() ? std::nullopt : std::optional(row.note); }),
    };
};

[[nodiscard]] constexpr auto bytesOfCategory(Category category)
{
    return [category](const CategorySums& sums) { return sums.of(category); };
}

template <> struct Fields<CategorySums> {
    static constexpr std::tuple all{
        field("bytes", Unit::Bytes, "requested bytes", &CategorySums::bytes),
        field("blocks", Unit::Count, "how many blocks", &CategorySums::blocks),
        field("parameter_bytes", Unit::Bytes, "of parameters", bytesOfCategory(Category::Parameter)),
        field("buffer_bytes", Unit::Bytes, "of buffers", bytesOfCategory(Category::Buffer)),
        field("optimizer_state_bytes", Unit::Bytes, "of optimizer states",
            bytesOfCategory(Category::OptimizerState)),
        field("gradient_bytes", Unit::Bytes, "of gradients", bytesOfCategory(Category::Gradient)),
        field("activation_bytes", Unit::Bytes, "of activations", bytesOfCategory(Category::Activation)),
        field("temporary_bytes", Unit::Bytes, "of blocks freed in the phase that allocates them",
            bytesOfCategory(Category::Temporary)),
        field("workspace_bytes", Unit::Bytes, "of workspaces of CUDA's libraries",
            bytesOfCategory(Category::Workspace)),
        field("communication_bytes", Unit::Bytes, "of communication between ranks",
            bytesOfCategory(Category::Communication)),
        field("input_bytes", Unit::Bytes, "of input batches", bytesOfCategory(Category::Input)),
        field("unknown_bytes", Unit::Bytes, "of blocks with unknown category",
            bytesOfCategory(Category::Unknown)),
    };
};

template <> struct Fields<ModuleRow> {
    static constexpr std::tuple all{
        field("module", Unit::None, "path of the module; null: blocks that belong to no module",
            [](const ModuleRow& row) {
                return row.path.empty() ? std::nullopt : std::optional<std::string_view>(row.path);
            }),
        field("bytes", Unit::Bytes, "requested bytes of the module, without modules within it",
            within(&ModuleRow::own, &CategorySums::bytes)),
        field("blocks", Unit::Count, "how many blocks", within(&ModuleRow::own, &CategorySums::blocks)),
        field("", Unit::None, "",
            [](const ModuleRow& row) { return Inlined<CertaintyBytes>{ row.own.certain }; }),
        field("bytes_per_parameter", Unit::Bytes,
            "bytes divided by `parameters`; null: `parameters` is not known",
            [](const ModuleRow& row, const LedgerAnswer& in) {
                return ratioText(in.perParameter(row.own.bytes));
            }),
        field("expected_bytes_per_parameter", Unit::Bytes, "null: of categories only",
            [](const ModuleRow&) { return std::optional<JsonText>(); }),
        field("note", Unit::None, "null: of categories only",
            [](const ModuleRow&) { return std::optional<Sentence>(); }),
        field("depth", Unit::Count, "depth in the tree of modules, from 0", &ModuleRow::depth),
        field("own", Unit::None, "sums of the module, without modules within it", &ModuleRow::own),
        field("total", Unit::None, "sums of the module, with modules within it", &ModuleRow::total),
    };
};

template <> struct Fields<Spike> {
    static constexpr std::tuple all{
        field("line", Unit::None, "line of the program that allocates the blocks",
            [](const Spike& spike, const LedgerAnswer& in) { return lineOf(in.trace->recording(), spike); }),
        field("stack", Unit::None, "its stack trace",
            [](const Spike& spike, const LedgerAnswer& in) {
                return StackIn{ &in.trace->recording(), spike.site };
            }),
        field("bytes", Unit::Bytes, "requested bytes at the peak", &Spike::bytes),
        field("blocks", Unit::Count, "how many blocks at the peak", &Spike::blocks),
        field("block", Unit::None, "number of the largest of them",
            [](const Spike& spike) { return spike.largest.value; }),
        field("life_events", Unit::Count, "longest life of them, in events", &Spike::longestLife),
        field("peak_without_bytes", Unit::Bytes, "peak of requested bytes without the blocks of this line",
            &Spike::peakWithoutBytes),
        field("peak_without_event", Unit::Event, "event of that peak", &Spike::peakWithoutEvent),
    };
};

template <> struct Fields<RuleShare> {
    static constexpr std::tuple all{
        field("category", Unit::None, "category that the rule gives",
            [](const RuleShare& share) { return categoryWord(share.category); }),
        field("bytes", Unit::Bytes, "requested bytes of the blocks that the rule decides", &RuleShare::bytes),
        field("blocks", Unit::Count, "how many blocks the rule decides", &RuleShare::blocks),
    };
};

template <> struct Fields<LedgerAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const LedgerAnswer&) { return 1; }),
        field("device", Unit::None, "number of the device",
            [](const LedgerAnswer& answer) { return answer.trace->device(); }),
        field("event", Unit::Event, "the instant: after this event",
            within(&LedgerAnswer::ledger, &Ledger::event)),
        field("requested_bytes", Unit::Bytes, "requested bytes of all live blocks",
            within(&LedgerAnswer::ledger, &Ledger::requestedBytes)),
        field("reserved_bytes", Unit::Bytes, "reserved bytes; null: not known",
            within(&LedgerAnswer::ledger, &Ledger::reservedBytes)),
        field("parameters", Unit::Count, "elements of recorded parameters; null: none recorded",
            within(&LedgerAnswer::ledger, &Ledger::parameters)),
        field("rows", Unit::None, "by category, the largest first",
            [](const LedgerAnswer& answer) {
                using Rows = std::span<const LedgerRow>;
                return LeftOutWhereNone<Rows>{ answer.modules ? std::nullopt
                                                              : std::optional<Rows>(answer.ledger.rows) };
            }),
        field("rows", Unit::None, "with `--by module`: the tree of modules, blocks of no module last",
            [](const LedgerAnswer& answer) {
                using Rows = std::span<const ModuleRow>;
                return LeftOutWhereNone<Rows>{ answer.modules ? std::optional<Rows>(*answer.modules)
                                                              : std::nullopt };
            }),
        field("rounding_bytes", Unit::Bytes,
            "rounding of requests, and remainders not split; null: not known",
            within(&LedgerAnswer::ledger, &Ledger::roundingBytes)),
        field("pending_free_bytes", Unit::Bytes,
            "part of `requested_bytes` that is freed but may still be used by another stream",
            within(&LedgerAnswer::ledger, &Ledger::pendingFreeBytes)),
        field("fragmentation_bytes", Unit::Bytes,
            "free in segments that also hold live blocks; null: segments are not known",
            within(&LedgerAnswer::ledger, &Ledger::fragmentationBytes)),
        field("cached_free_bytes", Unit::Bytes, "in completely free segments; null: segments are not known",
            within(&LedgerAnswer::ledger, &Ledger::cachedFreeBytes)),
        field("outside_bytes", Unit::Bytes, "outside of PyTorch: CUDA and its libraries; null: not known",
            within(&LedgerAnswer::ledger, &Ledger::outsideBytes)),
        field("surprises", Unit::None, "what differs from expectation, most bytes first",
            [](const LedgerAnswer& answer) {
                return answer.ledger.surprises
                    | std::views::transform([](const LedgerSurprise& one) { return one.said; });
            }),
        field("spikes", Unit::None, "lines whose short-lived blocks make the peak; null: not at the peak",
            &LedgerAnswer::spikes),
        field("unused", Unit::None,
            "lines whose memory no operator used in the deep step, most bytes first; null: not at the peak, "
            "no "
            "usable deep step, or CUDA graphs may run",
            &LedgerAnswer::unused),
        field(
            "rules", Unit::None, "what each of your own rules decides; null: no rules", &LedgerAnswer::rules),
        field("why", Unit::None, "with `--why`: the rule behind each category, most bytes first",
            [](const LedgerAnswer& answer) {
                using Why = std::span<const CategoryWhy>;
                return LeftOutWhereNone<Why>{ answer.why ? std::optional<Why>(*answer.why) : std::nullopt };
            }),
    };
};

} // namespace strata::model
