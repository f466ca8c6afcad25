// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/scenario.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

class Rewrites;

/// In this order changes are made of a run, whatever the order in which they are asked for; sizes come first.
enum class ChangeStage : std::uint8_t {
    Sizes, ///< of the batch, of sequences: predict() makes all of it
    Checkpoints,
    Host, ///< what is saved there
    LastUses,
    Lines, ///< that are not there
    Gradients,
    Ranks,
    MicroSteps,
    Optimizer,
    None, ///< nothing is made of a recorded run: see ChangeKind::notRecorded
};

/// Who makes a change of a program that is run.
enum class MadeBy : std::uint8_t {
    Arguments, ///< of its command line: the program itself takes it
    Outside, ///< strata dryrun, in Python
    Nobody, ///< recorded calls can be made again so
    Hand, ///< somebody who edits the program
};

/// What it asks of those who do it: nothing but a variable, a line that leaks, a line elsewhere, a few lines,
/// steps that wait for the host, another training.
enum class Effort : std::uint8_t { Settings, Leak, Line, Program, Host, Training };
inline constexpr std::size_t kEfforts = 6;

/// How a change is asked for in a window.
struct ChangeCard {
    enum class Kind : std::uint8_t {
        None, ///< by the card of another kind
        Size, ///< a slider around what was recorded
        Value, ///< what is worth trying, or anything that is typed
        Choice, ///< one of `choices`
        Ranks, ///< of all that spread
    };
    /// "in 4 chunks", "logits=chunks:4": `number` stands for %1.
    struct Choice {
        English words;
        std::string_view change;
        int number = 0;
    };

    Kind kind = Kind::None;
    English title, about;
    English needs; ///< said where nothing is worth trying
    bool takesSeveral = false; ///< values with blanks between them
    std::span<const Choice> choices;
};

/// All that the program knows of a kind of change. A constant of a file of model/whatif/kinds.
struct ChangeKind {
    std::string_view word; ///< of KIND=VALUE
    std::string_view values; ///< "batch=N or batch=xF"
    English help; ///< what it is, in a line: of the command line's help and of the manual
    /// Takes in `value` of a change that has its texts: `asked`, `effect`. Usage: says what there is.
    Result<void> (*read)(Change& change) = nullptr;

    ChangeStage stage = ChangeStage::None;
    /// Makes it of a run, all changes of the kind at once. Fails where what it needs is not there.
    Result<void> (*make)(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites) = nullptr;
    English notRecorded; ///< why no recording tells it; empty: recordings do
    bool (*isByCalls)(const Change& change) = nullptr; ///< recorded calls tell it; nullptr: none do
    bool takesModules = false; ///< calls tell it if they tell of modules, as those of Python do
    MadeBy madeBy = MadeBy::Outside;
    English timeUnknown; ///< why the time of a step is not known with it; empty: it is

    Effort effort = Effort::Program;
    /// Values that are worth trying with a recording, most likely first; nullptr: none.
    std::vector<std::string> (*worthTrying)(const DeviceTrace& trace) = nullptr;
    /// Values that `--alternatives` and advice try; nullptr: none.
    std::vector<std::string> (*alternatives)(const RecordedRun& run) = nullptr;
    bool replacesItself = false; ///< an alternative stands in the place of what is asked for
    bool isOnce = false; ///< no alternative where something of the kind is asked for
    Does notBeside{}; ///< nor where something that does this is

    std::string_view dryRunValues; ///< as `values`, of strata dryrun --change; empty: MadeBy says why not
    bool (*isForDryRun)(std::string_view value) = nullptr;
    bool isForDryRunAlone = false; ///< without a value, too

    ChangeCard card;

    [[nodiscard]] bool isToldByRunningAlone() const { return !notRecorded.text().empty(); }
    [[nodiscard]] bool isToldByCallsAlone() const { return madeBy == MadeBy::Nobody; }
    [[nodiscard]] bool isWrittenByHand() const { return madeBy == MadeBy::Hand; }
};

/// The first change whose kind is so; nullptr: none.
[[nodiscard]] const Change* firstOf(std::span<const Change> changes, bool (ChangeKind::*is)() const);

/// A whole number from 1 to `most`; none: the text is no such.
[[nodiscard]] std::optional<std::int64_t> wholeNumber(std::string_view text, std::int64_t most);

} // namespace strata::model
