// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/result.h"
#include "model/cards/fits.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/answer/step_time.h"
#include "model/whatif/plan/alternatives.h"
#include "model/whatif/plan/checkpoint_plan.h"
#include "model/whatif/plan/fit_plan.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata::model {

/// Peaks of a run, each where it is confirmed.
struct ConfirmedPeaks {
    std::optional<std::int64_t> requestedBytesPeak, allocatedBytesPeak, reservedBytesPeak;

    /// Nothing where the reserved peak is not, on which hangs what fits.
    [[nodiscard]] std::optional<PeakFigures> withReserved() const
    {
        if (!reservedBytesPeak)
            return std::nullopt;
        return PeakFigures{ requestedBytesPeak.value_or(0), allocatedBytesPeak.value_or(0),
            *reservedBytesPeak };
    }
};

template <> struct Fields<ConfirmedPeaks> {
    static constexpr std::tuple all{
        field("requested_bytes_peak", Unit::Bytes, "peak of requested bytes",
            &ConfirmedPeaks::requestedBytesPeak),
        field("allocated_bytes_peak", Unit::Bytes,
            "peak of allocated bytes, rounded as the allocator does; null: not confirmed",
            &ConfirmedPeaks::allocatedBytesPeak),
        field("reserved_bytes_peak", Unit::Bytes, "peak of reserved bytes; null: not confirmed",
            &ConfirmedPeaks::reservedBytesPeak),
    };
};

/// Peaks of the program itself, or of its recorded calls, on a simulated device.
struct Confirmation {
    PeakFigures unchanged, changed;
    bool byCalls = false; ///< the recording's calls, not the program
    bool isConfirmed = true; ///< false: unchanged, the calls do not need what was recorded; `note` says so
    /// All that they request is as recorded, but not where the allocator puts it.
    bool isRequestedConfirmed = true;
    bool runsOutOfMemory = false; ///< a request was refused; the peaks are then those of a device with room
    std::string note; ///< why the answer is doubtful, a sentence; empty: it is not
};

/// What `strata whatif` answers of one device.
struct WhatIfDevice {
    const DeviceTrace* trace = nullptr; ///< of the first recording
    Prediction prediction; ///< where it is refused: what was recorded alone
    std::optional<Error> refused; ///< nothing in the recording supports an answer
    std::optional<Confirmation> confirmation; ///< none: nobody asked
    std::optional<PredictedStepTime> stepTime; ///< none: not known
    std::optional<AnsweredAlternatives> alternatives; ///< none: nobody asked
    std::vector<CallHint> hints; ///< of a plan or alternatives for the program as it is

    /// What confirms the answer; nullptr: nothing does.
    [[nodiscard]] const Confirmation* confirmed() const
    {
        return confirmation && confirmation->isConfirmed ? &*confirmation : nullptr;
    }
    /// What confirms the requested peak alone; nullptr: nothing does, or more is confirmed.
    [[nodiscard]] const Confirmation* requestedConfirmed() const
    {
        return confirmation && !confirmation->isConfirmed && confirmation->isRequestedConfirmed
            ? &*confirmation
            : nullptr;
    }
    [[nodiscard]] std::optional<ConfirmedPeaks> confirmedPeaks() const;
    /// Nothing is known but the requested peak.
    [[nodiscard]] bool isRequestedAlone() const { return refused && requestedConfirmed() != nullptr; }
    /// By an estimate, or by the program.
    [[nodiscard]] bool isAnswered() const
    {
        return !refused || confirmed() != nullptr || requestedConfirmed() != nullptr;
    }
    [[nodiscard]] bool runsOutOfMemory() const
    {
        return confirmed() != nullptr ? confirmed()->runsOutOfMemory : prediction.runsOutOfMemory;
    }
    /// The program may request more than is known.
    [[nodiscard]] bool needsAtLeast() const
    {
        return isRequestedAlone() || (confirmed() == nullptr && prediction.atLeastBytes);
    }
    /// The reserved peak that a limit is held against: the confirmed one, else that of the answer, or the
    /// upper bound of a range.
    [[nodiscard]] std::int64_t neededBytes() const
    {
        return confirmed() != nullptr ? confirmed()->changed.reservedBytesPeak
            : isRequestedAlone()      ? confirmation->changed.requestedBytesPeak
                                      : prediction.neededBytes();
    }
    /// What a card must have room for.
    [[nodiscard]] std::int64_t roomBytes() const
    {
        return confirmed() != nullptr || isRequestedAlone() ? neededBytes() : prediction.roomBytes();
    }
    /// In the order of the catalogue; none where it may need more.
    [[nodiscard]] std::vector<CardMargin> fitsOn() const;
};

/// A change that is asked, and the weakest evidence that its answer uses.
struct WhatIfChange {
    std::string text;
    std::optional<std::string_view> evidence;
};

/// What `strata whatif` answers.
struct WhatIfReport {
    Scenario scenario; ///< what is planned is a part of it
    std::vector<WhatIfDevice> devices; ///< empty where it is refused
    std::optional<Error> refused; ///< no device has an answer
    std::optional<AnyPlan> plan; ///< none: nobody asked for one

    /// "replay", ..., "sizes"; "calls" where they alone support an answer; none: nothing does.
    [[nodiscard]] std::optional<std::string_view> evidence() const;
    [[nodiscard]] std::vector<WhatIfChange> changes() const;
    [[nodiscard]] bool planIsMet() const; ///< or there is none
};

struct PeakInterval {
    PeakFigures least, most;
};

[[nodiscard]] constexpr auto bothPeaks(std::int64_t PeakFigures::*peak)
{
    return [peak](const PeakInterval& of) { return std::array{ of.least.*peak, of.most.*peak }; };
}

template <> struct Fields<PeakInterval> {
    static constexpr std::tuple all{
        field("requested_bytes_peak", Unit::Bytes, "lower and upper bound",
            bothPeaks(&PeakFigures::requestedBytesPeak)),
        field("allocated_bytes_peak", Unit::Bytes, "lower and upper bound",
            bothPeaks(&PeakFigures::allocatedBytesPeak)),
        field("reserved_bytes_peak", Unit::Bytes, "lower and upper bound",
            bothPeaks(&PeakFigures::reservedBytesPeak)),
        field("coverage", Unit::None, "null: not known",
            [](const PeakInterval&) { return std::optional<double>(); }),
    };
};

[[nodiscard]] constexpr auto inPrediction(auto member)
{
    return within(&WhatIfDevice::prediction, member);
}

template <> struct Fields<WhatIfDevice> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the device",
            [](const WhatIfDevice& of) { return of.trace->device(); }),
        field("evidence", Unit::None, "the weakest that was used; null: no estimate",
            [](const WhatIfDevice& of) {
                return of.refused ? std::nullopt : std::optional(evidenceWord(of.prediction.evidence));
            }),
        field("refused", Unit::None, "why there is no estimate; null: there is one", &WhatIfDevice::refused),
        field("recorded", Unit::None, "peaks", inPrediction(&Prediction::recorded)),
        field("predicted", Unit::None, "peaks; null: a range only", inPrediction(&Prediction::predicted)),
        field("interval", Unit::None,
            "bounds of each peak; with `at_least` of what was recorded, and the program needs more",
            [](const WhatIfDevice& of) {
                return of.refused ? std::nullopt
                                  : std::optional(PeakInterval{ of.prediction.least, of.prediction.most });
            }),
        field("needed_bytes", Unit::Bytes,
            "upper bound of the reserved peak: a card must have room for it; null: no answer",
            [](const WhatIfDevice& of) {
                return of.isAnswered() ? std::optional(of.roomBytes()) : std::nullopt;
            }),
        field("at_least", Unit::None,
            "it may need more: a request was refused, no recorded moment is above the beginning, or the "
            "requested peak alone is confirmed",
            &WhatIfDevice::needsAtLeast),
        field("fits_on", Unit::None, "cards that have room; none where `at_least`", &WhatIfDevice::fitsOn),
        field("batch_before", Unit::Count, "batch size; null: not changed",
            inPrediction(&Prediction::batchBefore)),
        field("batch_after", Unit::Count, "batch size with the changes; null: not changed",
            inPrediction(&Prediction::batchAfter)),
        field("sequence_before", Unit::Count, "sequence length; null: not changed",
            inPrediction(&Prediction::sequenceBefore)),
        field("sequence_after", Unit::Count, "sequence length with the changes; null: not changed",
            inPrediction(&Prediction::sequenceAfter)),
        field("out_of_memory", Unit::None, "a request is refused", &WhatIfDevice::runsOutOfMemory),
        field("may_run_out_of_memory", Unit::None,
            "the likeliest run fits the capacity, and a run of the bounds does not",
            [](const WhatIfDevice& of) {
                return of.confirmed() == nullptr && of.prediction.mayRunOutOfMemory;
            }),
        field("out_of_memory_event", Unit::Event, "the first refused request; null: not known",
            inPrediction(&Prediction::outOfMemoryEvent)),
        field("exact", Unit::None, "nothing was guessed", inPrediction(&Prediction::exact)),
        field("reason", Unit::None, "why it is an estimate, or a range only; null: it is exact",
            [](const WhatIfDevice& of) {
                const Reason& reason = of.prediction.reason;
                return reason.empty() ? std::nullopt : std::optional(reason.said());
            }),
        field("unknown_bytes", Unit::Bytes, "the most at a time of blocks that cannot be scaled",
            inPrediction(&Prediction::unknownBytes)),
        field("confirmed", Unit::None,
            "with `--confirm`: peaks of the program, or of its calls, with the changes; else null",
            &WhatIfDevice::confirmedPeaks),
        field("confirmed_unchanged", Unit::None, "the same without the changes",
            [](const WhatIfDevice& of) {
                return of.confirmation ? std::optional(of.confirmation->unchanged) : std::nullopt;
            }),
        field("confirmed_by", Unit::None, "`program` or `calls`; null: it is not confirmed",
            [](const WhatIfDevice& of) {
                return of.confirmedPeaks()
                    ? std::optional<std::string_view>(of.confirmation->byCalls ? "calls" : "program")
                    : std::nullopt;
            }),
        field("confirmed_note", Unit::None,
            "why the program may not be the recorded one, or its calls do not confirm all; null: neither",
            [](const WhatIfDevice& of) {
                return of.confirmation ? unlessEmpty(of.confirmation->note) : std::nullopt;
            }),
        field("rules", Unit::None, "what became of blocks", inPrediction(&Prediction::uses)),
        field("held", Unit::None, "of `free=`: what a step holds after its last use, the most bytes first",
            inPrediction(&Prediction::held)),
        field("step_time_ns", Unit::Nanoseconds,
            "how long a step takes; null: no kernels of whole steps were recorded", &WhatIfDevice::stepTime),
        field("alternatives", Unit::None, "with `--alternatives`: single changes; else null",
            [](const WhatIfDevice& of) {
                return of.alternatives ? std::optional(std::span(of.alternatives->rows)) : std::nullopt;
            }),
        field("call_hints", Unit::None,
            "with `--plan` or `--alternatives`, without `--confirm`: changes that recorded calls alone "
            "answer",
            &WhatIfDevice::hints),
    };
};

template <> struct Fields<WhatIfChange> {
    static constexpr std::tuple all{
        field("change", Unit::None, "as `--change` takes it, or `settings=` before a value of `--set`",
            &WhatIfChange::text),
        field("evidence", Unit::None, "that of the answer; of settings `replay`", &WhatIfChange::evidence),
    };
};

template <> struct Fields<WhatIfReport> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const WhatIfReport&) { return 1; }),
        field("evidence", Unit::None,
            "the weakest that was used; `calls`: calls of the deep step alone; null: none",
            &WhatIfReport::evidence),
        field("scenario", Unit::None, "what is changed", &WhatIfReport::changes),
        field("refused", Unit::None, "why no device has an answer; null: one has", &WhatIfReport::refused),
        field("devices", Unit::None, "the answer for each device", &WhatIfReport::devices),
        field("plan", Unit::None, "what `--plan` found; null: nobody asked", &WhatIfReport::plan),
    };
};

} // namespace strata::model
