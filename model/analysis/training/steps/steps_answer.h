// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/deep_check.h"
#include "model/analysis/training/steps/step_reasons.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/base/answer_fields.h"
#include "model/timeline/curve.h"
#include "model/trace/stack_fields.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// A step, with the memory that it took.
struct StepMemory {
    const TrainingStep* step;
    CurveRange peak; ///< of requested bytes, over its own events
    std::int64_t requestedBytesEnd = 0; ///< after its last event
    std::optional<std::int64_t> reservedBytes; ///< likewise; none: the recording does not tell
    std::optional<StepReason> why; ///< where it was asked for

    /// How many events of the step each phase has, by Phase.
    [[nodiscard]] std::array<std::int64_t, kPhases> eventsOfPhases() const;
};

/// A step in which every operator was seen, held against those around it. Points into the recording.
struct DeepStepAnswer {
    std::optional<std::int64_t> number; ///< none: no step ends or begins where it does
    const DeepStep* step;
    DeepCheck check;
    Sentence why; ///< it is to be used, or not
};

/// What `strata steps` answers of one device.
struct DeviceSteps {
    /// Points into the trace. With `why` each step has its reason.
    DeviceSteps(const DeviceTrace& trace, TrainingSteps steps, bool why = false);
    DeviceSteps(DeviceSteps&&) = default; ///< pointers into `training` stay valid
    DeviceSteps& operator=(DeviceSteps&&) = default;

    int device;
    TrainingSteps training;
    std::vector<StepMemory> steps; ///< of `training`
    std::vector<DeepStepAnswer> deep;
};

struct StepsAnswer {
    std::vector<DeviceSteps> devices;
};

template <> struct Fields<PhaseSpan> {
    static constexpr std::tuple all{
        field("kind", Unit::None, "`forward`, `backward`, `recompute`, `optimizer`, `no_grad` or `unknown`",
            [](const PhaseSpan& span) { return phaseWord(span.phase); }),
        field("first_event", Unit::Event, "first event of the phase", &PhaseSpan::first),
        field("last_event", Unit::Event, "last event of the phase", &PhaseSpan::last),
    };
};

template <> struct Fields<StepFrame> {
    static constexpr std::tuple all{
        field("kind", Unit::None, "`forward`, `backward`, `recompute`, `optimizer` or `no_grad`",
            [](const StepFrame& row) { return phaseWord(row.phase); }),
        field("allocations", Unit::Count, "allocations of the step whose stack traces show that phase",
            &StepFrame::allocations),
        field("frame", Unit::None, "stack frame that shows the phase for most of them",
            &StepFrame::frame),
    };
};

template <> struct Fields<StepReason> {
    static constexpr std::tuple all{
        field("rule", Unit::None, "the rule, as a sentence", &StepReason::rule),
        field("frames", Unit::None, "what stack traces show, by phase", &StepReason::frames),
    };
};

template <> struct Fields<StepMemory> {
    static constexpr std::tuple all{
        field("step", Unit::Step,
            "number of the step: the program's own where it names its steps, else from 0; null: the program "
            "names other steps, not this one",
            [](const StepMemory& row) { return row.step->shownNumber(); }),
        field("kind", Unit::None, "`setup`, `train`, `eval`, `forward`, `save`, `loop` or `incomplete`",
            [](const StepMemory& row) { return stepKindWord(row.step->kind); }),
        field("certainty", Unit::None,
            "how sure kind and ends of the step are: `recorded`, `shown_by_stack` or `likely`",
            [](const StepMemory& row) { return certaintyWord(row.step->certainty); }),
        field("warmup", Unit::None, "whether optimizer states, caches or workspaces were still being created",
            within(&StepMemory::step, &TrainingStep::warmup)),
        field("micro_steps", Unit::Count, "backward passes in the step",
            within(&StepMemory::step, &TrainingStep::microSteps)),
        field("first_event", Unit::Event, "first event of the step",
            within(&StepMemory::step, &TrainingStep::first)),
        field("last_event", Unit::Event, "last event of the step",
            within(&StepMemory::step, &TrainingStep::last)),
        field("phases", Unit::None, "phases of the step, in the order of events",
            within(&StepMemory::step, &TrainingStep::phases)),
        field("requested_bytes_peak", Unit::Bytes, "peak of requested bytes in the step",
            within(&StepMemory::peak, &CurveRange::max)),
        field("peak_event", Unit::Event, "first event with that peak",
            within(&StepMemory::peak, &CurveRange::maxEvent)),
        field("requested_bytes_end", Unit::Bytes, "requested bytes after the last event",
            &StepMemory::requestedBytesEnd),
        field("reserved_bytes", Unit::Bytes, "reserved bytes after the last event; null: not known",
            &StepMemory::reservedBytes),
        field("why", Unit::None, "rule and stack frames that decided; left out without `--why`",
            [](const StepMemory& row) { return LeftOutWhereNone<StepReason>{ row.why }; }),
    };
};

template <> struct Fields<DeepStepAnswer> {
    static constexpr std::tuple all{
        field("step", Unit::Step, "number of the step; null: it matches no step", &DeepStepAnswer::number),
        field("first_event", Unit::Event, "first event of the step",
            [](const DeepStepAnswer& deep) { return deep.step->beginEvent; }),
        field("last_event", Unit::Event, "last event of the step",
            [](const DeepStepAnswer& deep) { return deep.step->endEvent - 1; }),
        field("usable", Unit::None, "whether `strata whatif` can use the step",
            [](const DeepStepAnswer& deep) { return isUsable(*deep.step, deep.check); }),
        field("likeness", Unit::None,
            "allocations compared with the steps before and after: `same`, `alike`, `differs` or `alone`",
            [](const DeepStepAnswer& deep) { return likenessWord(deep.check.likeness); }),
        field("differs_at_event", Unit::Event,
            "with `differs` the first event that differs; null: it ends early, or does not differ",
            [](const DeepStepAnswer& deep) {
                return deep.check.differsAt < 0 ? std::nullopt : std::optional(deep.check.differsAt);
            }),
        field("why", Unit::None, "the reason, as a sentence", &DeepStepAnswer::why),
        field("operators", Unit::Count, "operators that ran",
            within(&DeepStepAnswer::check, &DeepCheck::operators)),
        field("saved_tensors", Unit::Count, "tensors that autograd saved for backward",
            within(&DeepStepAnswer::check, &DeepCheck::saved)),
        field("module_calls", Unit::Count, "calls of modules' `forward`",
            within(&DeepStepAnswer::check, &DeepCheck::modules)),
    };
};

template <> struct Fields<DeviceSteps> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the device", &DeviceSteps::device),
        field("evidence", Unit::None,
            "how steps are known: `ranges`, `bits`, `marks`, `frames`, `rhythm` or `none`",
            [](const DeviceSteps& of) { return evidenceWord(of.training.evidence); }),
        field("certainty", Unit::None,
            "how sure the steps of training are, or where there are none all steps: `recorded`, "
            "`shown_by_stack`, `likely` or `unknown`",
            [](const DeviceSteps& of) { return certaintyWord(of.training.certainty()); }),
        field("optimizer_seen", Unit::None, "whether a step of an optimizer was recorded, or shown by a stack trace",
            [](const DeviceSteps& of) { return of.training.optimizerSeen; }),
        field("steps", Unit::None, "steps in the order of events; together they cover the recording",
            &DeviceSteps::steps),
        field("deep_steps", Unit::None, "steps recorded with `--deep-step`; left out where there are none",
            [](const DeviceSteps& of) {
                using Deep = std::span<const DeepStepAnswer>;
                return LeftOutWhereNone<Deep>{ of.deep.empty() ? std::nullopt
                                                               : std::optional<Deep>(of.deep) };
            }),
    };
};

template <> struct Fields<StepsAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const StepsAnswer&) { return 1; }),
        field("devices", Unit::None, "devices of the recording", &StepsAnswer::devices),
    };
};

} // namespace strata::model
