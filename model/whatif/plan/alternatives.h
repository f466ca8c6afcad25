// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/result.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/calls/call_hints.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// Values of a kind of change that are worth trying with a recording, most likely first: classes of modules
/// that a usable deep step has seen, those with modules in them first, else paths of layers that the
/// recording names; optimizers and micro-steps, where it tells of parameters; lines of the program, as
/// filters. Empty: nothing supports one, or any number will do (batch). O(rows of the deep step + events +
/// modules log modules + stacks).
[[nodiscard]] std::vector<std::string> valuesWorthTrying(const ChangeKind& kind, const DeviceTrace& trace);

/// Single changes of a run that need nothing from anybody to be answered, each a scenario of its own: other
/// settings of the allocator (settingsWorthTrying(), where replays show anything), half the batch and twice
/// as much where its items and steps are known, checkpoints around the likeliest modules where a deep step
/// tells of them, the optimizer that keeps nothing where the recording tells of one that does. Batches come
/// first. O(listings), with a deep step O(its rows + events).
[[nodiscard]] std::vector<Scenario> alternativesTo(const RecordedRun& run);

/// A change on top of what is asked for already.
struct Alternative {
    Scenario change; ///< alone, as alternativesTo() has it
    Scenario all; ///< with what is asked for: the one that stands for the same kind goes
};

/// Which of `singles` (alternativesTo() the run) there are on top of `asked`, each as it is there: half the
/// batch and twice as much of what is asked for, other settings as one more of those. Left out: what is asked
/// for, what leads back to the recording, what does not go together with it (goTogether()), and a kind whose
/// value stays a choice of the user (checkpoints). With nothing asked for: all, as they are. The answer to
/// each is that to what is asked with --change of it behind, or with its --set instead. O(singles).
[[nodiscard]] std::vector<Alternative> alternativesOnTop(
    const RecordedRun& run, const std::vector<Scenario>& singles, const Scenario& asked);

/// One more change, and its answer.
struct AnsweredAlternative {
    Scenario change; ///< alone
    Result<Prediction> prediction; ///< with what is asked; Kind::Refused: why not
    /// Reserved peaks of what is asked and with the change. None: one of them has no answer.
    std::optional<ComparedNeed> need = {};
    std::optional<PeaksByCalls> calls = {}; ///< of a change that recorded calls alone answer

    [[nodiscard]] std::optional<std::int64_t> savedBytes() const
    {
        return need ? std::optional(need->savedBytes()) : std::nullopt;
    }
};

/// Of the answer to what is asked, and of that to `all`, which are a change and what is asked.
[[nodiscard]] ComparedNeed compareAnswers(
    const Scenario& asked, const Prediction& answer, const Scenario& all, const Prediction& changed);
/// The alternative with `all`, which are the change and what else is asked: `asked`, with the answer
/// `answer`.
[[nodiscard]] AnsweredAlternative answeredAlternative(Scenario change, const Scenario& all,
    Result<Prediction> prediction, const Scenario& asked, const Prediction* answer);

struct AnsweredAlternatives {
    std::vector<AnsweredAlternative> rows; ///< what reserves least first; no answer and no memory last
    bool isOnTop = false; ///< something is asked, else they are single changes
    std::int64_t standsBytes = 0; ///< reserved peak of what is asked, which rows by calls are compared with

    void add(AnsweredAlternative row); ///< where it belongs; one by calls with its `need`
};

template <> struct Fields<AnsweredAlternative> {
    static constexpr std::tuple all{
        field("change", Unit::None, "as `--change` takes it, or `settings=` before a value of `--set`",
            [](const AnsweredAlternative& one) { return one.change.texts().front(); }),
        field("evidence", Unit::None,
            "weakest evidence of this answer; `calls`: recorded calls; null: no answer",
            [](const AnsweredAlternative& one) {
                return one.calls     ? std::optional<std::string_view>("calls")
                    : one.prediction ? std::optional(evidenceWord(one.prediction->evidence))
                                     : std::nullopt;
            }),
        field("predicted", Unit::None, "peaks; null: a range only",
            [](const AnsweredAlternative& one) {
                return one.prediction ? one.prediction->predicted : std::nullopt;
            }),
        field("reserved_bytes_peak", Unit::Bytes,
            "predicted, or the upper bound of a range; with endless memory where a request is refused",
            [](const AnsweredAlternative& one) {
                return one.need ? std::optional(one.need->afterBytes) : std::nullopt;
            }),
        field("by_calls", Unit::None, "with `--confirm`: what recorded calls show instead; else null",
            &AnsweredAlternative::calls),
        field("saved_bytes", Unit::Bytes, "of the same peak of what is asked; below zero: it needs more",
            &AnsweredAlternative::savedBytes),
        field("exact", Unit::None, "nothing was guessed",
            [](const AnsweredAlternative& one) { return one.prediction && one.prediction->exact; }),
        field("out_of_memory", Unit::None, "it would run out of memory",
            [](const AnsweredAlternative& one) { return one.prediction && one.prediction->runsOutOfMemory; }),
        field("serves_request", Unit::None,
            "whether the last refused request is served, and all that was served; null: none was refused, or "
            "the program changes",
            [](const AnsweredAlternative& one) {
                return one.prediction ? one.prediction->servesRequest : std::nullopt;
            }),
        field("at_least", Unit::None, "it may need more",
            [](const AnsweredAlternative& one) {
                return one.prediction && one.prediction->atLeastBytes.has_value();
            }),
        field("refused", Unit::None, "why this change has no answer; null: it has one",
            [](const AnsweredAlternative& one) {
                return one.prediction || one.calls ? std::nullopt : std::optional(one.prediction.error());
            }),
    };
};

/// What there is on top of `asked`, whose answer is `answer`, of recordings of one device, the first of which
/// has steps and categories. O(alternatives) answers.
[[nodiscard]] AnsweredAlternatives answerAlternatives(
    const std::vector<RecordedRun>& runs, const Scenario& asked, const Prediction& answer);

/// Whether one alternative stands before another in a table: what reserves least first; what is refused
/// memory behind that, and what has no answer last.
[[nodiscard]] bool standsBefore(const AnsweredAlternative& one, const AnsweredAlternative& other);

/// The run without the line that leaks most, where all that it asks for stays (but for one of ten, of a step
/// that is not over): remove=line:LABEL. None: nothing leaks so, or steps work with what stays. O(events +
/// blocks log steps).
[[nodiscard]] std::optional<Change> withoutLeak(const RecordedRun& run);

} // namespace strata::model
