// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/costs/roofline.h"
#include "model/base/answer_fields.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

/// A roofline with the texts of its trace. Points to both.
struct RooflineAnswer {
    const Roofline* roofline;
    const StringTable* strings;
    std::size_t mostRows;
};

/// What a roofline needs of a card. Points to it.
struct CardPeaks {
    const Card* card;

    /// By dtype, those that are known, in the order of NumberType.
    [[nodiscard]] std::vector<std::pair<std::string_view, JsonText>> flopsPerSecond() const
    {
        std::vector<std::pair<std::string_view, JsonText>> peaks;
        for (int i = 0; i < kNumberTypes; ++i)
            if (const auto type = static_cast<NumberType>(i); card->peak(type) > 0)
                peaks.emplace_back(numberTypeWord(type), decimals(card->peak(type), 0));
        return peaks;
    }
};

template <> struct Fields<CardPeaks> {
    static constexpr std::tuple all{
        field("name", Unit::None, "name in Strata's catalogue", within(&CardPeaks::card, &Card::name)),
        field("bytes_per_second", Unit::None, "peak of its memory",
            [](const CardPeaks& of) { return decimals(of.card->bandwidth, 0); }),
        field("flops_per_second", Unit::None, "dense peaks by dtype: those that are known",
            &CardPeaks::flopsPerSecond),
        field("source", Unit::None, "data sheet of the peaks", within(&CardPeaks::card, &Card::peakSource)),
    };
};

/// Left out of rows whose costs are not known.
[[nodiscard]] constexpr auto ofKnownCosts(auto get)
{
    return [get](const RooflineRow& row, const RooflineAnswer& in) {
        if constexpr (std::is_invocable_v<decltype(get), const RooflineRow&, const RooflineAnswer&>)
            return onlyWhere(row.isKnown, get(row, in));
        else
            return onlyWhere(row.isKnown, get(row));
    };
}

template <> struct Fields<RooflineRow> {
    static constexpr std::tuple all{
        field("name", Unit::None, "the operator",
            [](const RooflineRow& row, const RooflineAnswer& in) { return (*in.strings)[row.name]; }),
        field("shapes", Unit::None, "sizes of its inputs; null: not recorded",
            [](const RooflineRow& row, const RooflineAnswer& in) {
                return row.shapes.valid() ? std::optional(shapesText((*in.strings)[row.shapes]))
                                          : std::nullopt;
            }),
        field("calls", Unit::Count, "calls with the same sizes and dtypes", &RooflineRow::calls),
        field("gpu_ns", Unit::Nanoseconds, "time of the kernels that they launched; streams are added up",
            &RooflineRow::deviceNs),
        field("kind", Unit::None,
            "for example `matrix product`; null: costs are not known, and the keys below are left out",
            [](const RooflineRow& row) {
                return row.isKnown ? std::optional(costKindWord(row.kind)) : std::nullopt;
            }),
        field("type", Unit::None, "dtype whose peak counts",
            ofKnownCosts([](const RooflineRow& row) { return numberTypeWord(row.type); })),
        field("flops", Unit::Count, "FLOPs as `torch.utils.flop_counter` counts them",
            ofKnownCosts([](const RooflineRow& row) { return decimals(row.flops, 0); })),
        field("done_flops", Unit::Count,
            "FLOPs as they were done: under a causal mask half, of grouped convolutions' weight gradients "
            "one "
            "group",
            ofKnownCosts([](const RooflineRow& row) { return decimals(row.doneFlops, 0); })),
        field("bytes", Unit::Bytes,
            "each operand and each result once; of embeddings and index_select the results alone",
            ofKnownCosts([](const RooflineRow& row) { return decimals(row.bytes, 0); })),
        field("intensity", Unit::None, "`done_flops` / `bytes`",
            ofKnownCosts([](const RooflineRow& row) { return sixDigits(row.intensity()); })),
        field("flops_per_second", Unit::None, "`done_flops` by `gpu_ns`",
            ofKnownCosts([](const RooflineRow& row) { return decimals(row.flopRate(), 0); })),
        field("bytes_per_second", Unit::None,
            "`bytes` by `gpu_ns`; above the card's bandwidth where operands lay in its L2",
            ofKnownCosts([](const RooflineRow& row) { return decimals(row.byteRate(), 0); })),
        field("bound", Unit::None,
            "`compute` where `intensity` is at least the ridge, peak / bandwidth, else `memory`; null: not "
            "known",
            ofKnownCosts([](const RooflineRow& row, const RooflineAnswer& in) {
                const std::string_view word = in.roofline->boundWord(row);
                return word.empty() ? std::nullopt : std::optional(word);
            })),
        field("least_ns", Unit::Nanoseconds,
            "time below which the calls cannot fall: fastest clock, TF32, Winograd, and nothing that L2 may "
            "hold",
            ofKnownCosts([](const RooflineRow& row) { return decimals(row.leastNs, 1); })),
        field("roof_ns", Unit::Nanoseconds,
            "time that the calls would take at the card's peaks, all bytes from memory",
            ofKnownCosts([](const RooflineRow& row) { return decimals(row.roofNs, 1); })),
    };
};

[[nodiscard]] constexpr auto ofRoofline(auto member)
{
    return within(&RooflineAnswer::roofline, member);
}
[[nodiscard]] constexpr auto wholeOfRoofline(double Roofline::*figure)
{
    return [figure](const RooflineAnswer& answer) { return decimals(answer.roofline->*figure, 0); };
}

template <> struct Fields<RooflineAnswer> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the busiest GPU; null: no GPU worked",
            ofRoofline(&Roofline::device)),
        field("device_name", Unit::None, "its name in the trace; empty: the trace has none",
            ofRoofline(&Roofline::deviceName)),
        field("lack", Unit::None,
            "`none`; else why there is no more: `work` (no kernels), `shapes` (not recorded), `costs` (no "
            "operator is known), `card` (its peaks are not known)",
            [](const RooflineAnswer& answer) { return rooflineLackWord(answer.roofline->lack); }),
        field("card", Unit::None, "its peaks by the data sheet; null: not in Strata's catalogue",
            [](const RooflineAnswer& answer) {
                return answer.roofline->card ? std::optional(CardPeaks{ answer.roofline->card })
                                             : std::nullopt;
            }),
        field("span_ns", Unit::Nanoseconds,
            "the range that was asked for, else from the GPU's first to its last work",
            ofRoofline(&Roofline::spanNs)),
        field("work_ns", Unit::Nanoseconds, "kernels, sets and copies within the GPU, added up",
            ofRoofline(&Roofline::workNs)),
        field("known_ns", Unit::Nanoseconds, "time of these of operators whose costs are known",
            ofRoofline(&Roofline::knownNs)),
        field("no_operator_ns", Unit::Nanoseconds, "time of these launched by no operator, as from graphs",
            ofRoofline(&Roofline::noOperatorNs)),
        field("no_shapes_ns", Unit::Nanoseconds, "time of these of operators without recorded sizes",
            ofRoofline(&Roofline::noShapesNs)),
        field("unknown_ns", Unit::Nanoseconds, "time of these of operators whose costs are not known",
            ofRoofline(&Roofline::unknownNs)),
        field("elsewhere_ns", Unit::Nanoseconds,
            "communication, and copies from and to the host: no peak of the GPU limits these",
            ofRoofline(&Roofline::elsewhereNs)),
        field("known_calls", Unit::Count, "calls whose costs are known", ofRoofline(&Roofline::knownCalls)),
        field("unknown_calls", Unit::Count, "calls whose costs are not known",
            ofRoofline(&Roofline::unknownCalls)),
        field("flops", Unit::Count, "FLOPs as `torch.utils.flop_counter` counts them",
            wholeOfRoofline(&Roofline::flops)),
        field("done_flops", Unit::Count, "FLOPs as they were done", wholeOfRoofline(&Roofline::doneFlops)),
        field("bytes", Unit::Bytes, "each operand and each result once", wholeOfRoofline(&Roofline::bytes)),
        field("least_ns", Unit::Nanoseconds, "time below which the known calls cannot fall",
            [](const RooflineAnswer& answer) { return decimals(answer.roofline->leastNs, 1); }),
        field("mfu", Unit::None,
            "`flops` / (span x peak); recomputed FLOPs count as often as they ran; null: not known",
            [](const RooflineAnswer& answer) {
                const auto& share = answer.roofline->utilisation;
                return share ? std::optional(sixDigits(*share)) : std::nullopt;
            }),
        field("rows", Unit::None, "calls of one operator with the same sizes, longest time first",
            [](const RooflineAnswer& answer) {
                const std::span<const RooflineRow> rows = answer.roofline->rows;
                return inContext(rows.first(std::min(answer.mostRows, rows.size())), answer);
            }),
    };
};

} // namespace strata::model
