// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/fits.h"
#include "model/dryrun/dry_run_head.h"
#include "model/dryrun/dry_run_time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// What PyTorch needed of one GPU of a process.
struct DryRunDevice {
    int device = 0;
    std::int64_t requestedPeak = 0;
    std::int64_t allocatedPeak = 0;
    std::int64_t reservedPeak = 0;
    bool fits = false;
    std::int64_t outOfMemories = 0;
    std::optional<std::int64_t> firstRefused;
};

struct DryRunRank {
    int rank = 0;
    int worldSize = 1;
    std::int64_t process = 0;
    std::vector<DryRunDevice> devices;
};

/// A moment of a run; -1: the document does not say.
struct DryRunMoment {
    std::int64_t event = -1;
    std::int64_t steps = -1;
};

/// What was counted besides of a GPU that was used; -1 as above.
struct DryRunTracked {
    int rank = 0;
    int device = 0;
    std::int64_t events = -1;
    std::int64_t allocations = -1;
    bool allocatedIsLeast = false;
    DryRunMoment requestedPeakAt, reservedPeakAt;
};

/// A line of the user's code and what it held at the peak of requested bytes.
struct PeakGroup {
    std::string key;
    std::int64_t bytes = 0;
};

/// Those of one GPU, largest first.
struct DeviceGroups {
    int device = 0;
    bool reservedMost = false; ///< of the GPUs of its process; not in JSON
    std::vector<PeakGroup> groups;
};

/// The exception that ended a program, and what to do.
struct DryRunFailure {
    std::optional<std::string> kind, what, where;
    std::string hint;
};

/// What another order of addresses needed.
struct AddressOrderRun {
    std::string addresses;
    std::int64_t reservedPeak = 0;
    bool fits = true;
    int exitStatus = 0;
};

/// A run on a card with another compute capability.
struct OtherCardRun {
    std::string device;
    std::int64_t reservedPeak = 0; ///< where it does not fit or failed: a lower bound of what it needs
    std::string fits; ///< as DryRunFigures::fits
    int exitStatus = 0;
};

/// One run of the command.
struct DryRunFigures {
    std::optional<std::vector<DryRunRank>> ranks; ///< none in what another command answers
    std::string fits; ///< a word of fitWord(); empty: it failed, or an older document
    std::vector<CardMargin> fitsOn;
    int steps = 0;
    int exitStatus = 0;
    std::vector<DryRunTracked> tracked;
    std::optional<DryRunFailure> failure;
    LeftOutWhereNone<DryRunTime> time;
    LeftOutWhereNone<std::vector<OtherCardRun>> eachCard;
};

/// The run with --change.
struct ChangedDryRun : DryRunFigures {
    std::vector<std::string> changes;
    bool applied = true;
    std::optional<std::string> note;
};

/// What `strata dryrun` answers without --fit.
struct DryRunAnswer : DryRunHead, DryRunFigures {
    static constexpr std::string_view kOptimizerSteps = "optimizer";
    static constexpr std::string_view kRangeSteps = "range";

    std::string torch;
    std::vector<CardMargin> tryOn;
    std::optional<std::int64_t> neededAtLeast;
    std::vector<PeakGroup> groups;
    std::optional<int> groupsDevice;
    std::vector<DeviceGroups> groupsByDevice;
    int allSteps = 0;
    std::optional<int> stepsAsked;
    std::optional<std::string> stepsSource;
    bool stepsUnseen = false;
    bool endedBySteps = false;
    bool skipInit = true;
    std::optional<bool> weightsSkipped; ///< none: an older document, which says `skipInit` alone
    std::optional<std::string> whyNoDeepStep;
    std::vector<Assumption> outside;
    bool unservedCalls = false;
    LeftOutWhereNone<ChangedDryRun> changed;
    LeftOutWhereNone<std::vector<AddressOrderRun>> spread;
};

template <> struct Fields<DryRunDevice> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the device", &DryRunDevice::device),
        field("requested_bytes_peak", Unit::Bytes, "peak of requested bytes", &DryRunDevice::requestedPeak),
        field("allocated_bytes_peak", Unit::Bytes, "peak of allocated bytes", &DryRunDevice::allocatedPeak),
        field("reserved_bytes_peak", Unit::Bytes, "peak of reserved bytes", &DryRunDevice::reservedPeak),
        field("fits", Unit::None, "true: no request was refused", &DryRunDevice::fits),
        field("oom_count", Unit::Count, "refused requests", &DryRunDevice::outOfMemories),
        field("first_refused_bytes", Unit::Bytes, "size of the first refused request; null: none was refused",
            &DryRunDevice::firstRefused),
    };
};

template <> struct Fields<DryRunRank> {
    static constexpr std::tuple all{
        field("rank", Unit::None, "rank of the process; 0: it has none", &DryRunRank::rank),
        field("world_size", Unit::Count, "number of ranks", &DryRunRank::worldSize),
        field("process", Unit::None, "number of the process", &DryRunRank::process),
        field("devices", Unit::None, "its devices", &DryRunRank::devices),
    };
};

template <> struct Fields<DryRunMoment> {
    static constexpr std::tuple all{
        field("event", Unit::Event, "event of the device at which the peak is first reached",
            &DryRunMoment::event),
        field("steps_begun", Unit::Count, "steps that had begun by then", &DryRunMoment::steps),
    };
};

template <> struct Fields<DryRunTracked> {
    static constexpr std::tuple all{
        field("rank", Unit::None, "rank of the process; 0: it has none", &DryRunTracked::rank),
        field("device", Unit::None, "number of the device", &DryRunTracked::device),
        field("events", Unit::Count, "events of its allocator", &DryRunTracked::events),
        field("allocations", Unit::Count, "allocations among them", &DryRunTracked::allocations),
        field("allocated_is_least", Unit::None,
            "true: `allocated_bytes_peak` is a lower bound, since the program ended with an allocation",
            &DryRunTracked::allocatedIsLeast),
        field(
            "requested_peak_at", Unit::None, "when requested bytes peaked", &DryRunTracked::requestedPeakAt),
        field("reserved_peak_at", Unit::None, "when reserved bytes peaked", &DryRunTracked::reservedPeakAt),
    };
};

template <> struct Fields<PeakGroup> {
    static constexpr std::tuple all{
        field("key", Unit::None, "line of the program", &PeakGroup::key),
        field("bytes", Unit::Bytes, "bytes that it requested and that are alive", &PeakGroup::bytes),
    };
};

template <> struct Fields<DeviceGroups> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the device", &DeviceGroups::device),
        field(
            "groups", Unit::None, "lines of the program by bytes, the largest first", &DeviceGroups::groups),
    };
};

template <> struct Fields<DryRunFailure> {
    static constexpr std::tuple all{
        field(
            "kind", Unit::None, "class of the Python exception; null: there was none", &DryRunFailure::kind),
        field("what", Unit::None, "its message", &DryRunFailure::what),
        field("where", Unit::None, "line that raised it; empty: unknown", &DryRunFailure::where),
        field("hint", Unit::None, "likely cause, or what to do; may be empty", &DryRunFailure::hint),
    };
};

template <> struct Fields<Assumption> {
    static constexpr std::tuple all{
        field("name", Unit::None, "what needs the memory, for example `CUDA context`", &Assumption::name),
        field("each", Unit::None, "what needs it once each, for example `process`", &Assumption::each),
        field("low_bytes", Unit::Bytes, "lower end of the range", &Assumption::lowBytes),
        field("high_bytes", Unit::Bytes, "upper end of the range", &Assumption::highBytes),
        field("counted_bytes", Unit::Bytes, "part of it that the peaks include", &Assumption::countedBytes),
        field("source", Unit::None, "where the range is from", &Assumption::source),
    };
};

template <> struct Fields<AddressOrderRun> {
    static constexpr std::tuple all{
        field("addresses", Unit::None, "order of addresses, as `--addresses` takes it",
            &AddressOrderRun::addresses),
        field("reserved_bytes_peak", Unit::Bytes, "highest peak of reserved bytes of a device",
            &AddressOrderRun::reservedPeak),
        field("fits", Unit::None, "true: no request was refused", &AddressOrderRun::fits),
        field("exit_status", Unit::None, "exit status of the command", &AddressOrderRun::exitStatus),
    };
};

template <> struct Fields<OtherCardRun> {
    static constexpr std::tuple all{
        field("device", Unit::None,
            "the largest card of its compute capability, or one that was not sure to fit",
            &OtherCardRun::device),
        field("reserved_bytes_peak", Unit::Bytes,
            "highest peak of reserved bytes of a device; where it does not fit or the program failed, a "
            "lower bound of the bytes needed",
            &OtherCardRun::reservedPeak),
        field("fits", Unit::None, "on `device`: `yes`, `tight` or `no`; empty: the program failed",
            &OtherCardRun::fits),
        field("exit_status", Unit::None, "exit status of the command", &OtherCardRun::exitStatus),
    };
};

struct FigureFields {
    static constexpr auto ranks
        = field("ranks", Unit::None, "peaks of each process that used a device", &DryRunFigures::ranks);
    static constexpr auto fitsOn = field("fits_on", Unit::None,
        "cards that the program fits on, and those that are not comparable; empty where it failed or did not "
        "fit",
        &DryRunFigures::fitsOn);
    static constexpr auto fits = field("fits", Unit::None,
        "on `device`, where the CUDA context takes its part unless `--capacity` is given: `yes`, `tight` or "
        "`no`; empty: the program failed",
        &DryRunFigures::fits);
    static constexpr auto steps
        = field("steps", Unit::Count, "steps begun, of the optimizer that made most", &DryRunFigures::steps);
    static constexpr auto exitStatus = field("exit_status", Unit::None,
        "exit status of the command; above 128 the number of the signal plus 128",
        &DryRunFigures::exitStatus);
    static constexpr auto tracked = field("tracked", Unit::None,
        "moments and counts of each device that was used, in the order of `ranks`", &DryRunFigures::tracked);
    static constexpr auto failure = field(
        "failure", Unit::None, "what ended the program, or a hint; null: neither", &DryRunFigures::failure);
    static constexpr auto time
        = field("time", Unit::None, "with `--time`: lower bound of a step's time", &DryRunFigures::time);
    static constexpr auto eachCard = field("each_card", Unit::None,
        "with `--on-each-card`: runs on other cards, which `fits_on` uses", &DryRunFigures::eachCard);
};

template <> struct Fields<ChangedDryRun> {
    static constexpr std::tuple all{
        field("changes", Unit::None, "changes as `--change` names them", &ChangedDryRun::changes),
        FigureFields::ranks,
        FigureFields::tracked,
        FigureFields::fits,
        FigureFields::fitsOn,
        FigureFields::steps,
        FigureFields::exitStatus,
        FigureFields::failure,
        field("applied", Unit::None, "false: a change could not be applied, or it matched nothing",
            &ChangedDryRun::applied),
        field("note", Unit::None, "why it was not applied; null: it was", &ChangedDryRun::note),
        FigureFields::time,
        FigureFields::eachCard,
    };
};

template <> struct Fields<DryRunAnswer> {
    static constexpr std::tuple all{
        HeadFields::schema,
        HeadFields::simulated,
        HeadFields::device,
        HeadFields::capacity,
        field("torch", Unit::None, "version of PyTorch; empty: unknown", &DryRunAnswer::torch),
        FigureFields::ranks,
        FigureFields::fits,
        FigureFields::fitsOn,
        field("try_on", Unit::None,
            "after an out-of-memory: larger cards with room for `needed_at_least_bytes`",
            &DryRunAnswer::tryOn),
        field("needed_at_least_bytes", Unit::Bytes,
            "after an out-of-memory: lower bound of the bytes needed; null: the program fits",
            &DryRunAnswer::neededAtLeast),
        field("groups", Unit::None, "lines at the peak of requested bytes on `groups_device`",
            &DryRunAnswer::groups),
        field("groups_device", Unit::None, "device that reserved most; null: nothing was recorded",
            &DryRunAnswer::groupsDevice),
        field("groups_by_device", Unit::None, "`groups` of each device of that process",
            &DryRunAnswer::groupsByDevice),
        FigureFields::steps,
        field("steps_of_all", Unit::Count, "steps of all optimizers of that process together",
            &DryRunAnswer::allSteps),
        field("steps_asked", Unit::Count, "value of `--steps`; null: not given", &DryRunAnswer::stepsAsked),
        field("steps_source", Unit::None,
            "`optimizer`: calls of `step()`; `range`: `strata::capture::Step` of a C++ program; null: none "
            "seen",
            &DryRunAnswer::stepsSource),
        field("steps_unseen", Unit::None,
            "true: a C++ program used an optimizer class of its own, whose steps cannot be seen",
            &DryRunAnswer::stepsUnseen),
        field("ended_by_steps", Unit::None, "true: `--steps` ended the program", &DryRunAnswer::endedBySteps),
        HeadFields::stepsNote,
        FigureFields::exitStatus,
        FigureFields::tracked,
        field("skip_init", Unit::None, "false with `--no-skip-init`", &DryRunAnswer::skipInit),
        field("weights_skipped", Unit::None, "true: weights on the CPU were not initialised",
            &DryRunAnswer::weightsSkipped),
        field("deep_step_unusable", Unit::None,
            "why the recording has no deep step that can be used; null: it has, or none was asked for",
            &DryRunAnswer::whyNoDeepStep),
        field("outside", Unit::None, "memory that PyTorch does not count, as ranges", &DryRunAnswer::outside),
        field("unserved_calls", Unit::None,
            "true: the program made CUDA calls that the simulated device does not serve",
            &DryRunAnswer::unservedCalls),
        FigureFields::failure,
        FigureFields::time,
        field("changed", Unit::None, "with `--change`: the run with the changes", &DryRunAnswer::changed),
        field("spread", Unit::None, "with `--spread`: runs with other orders of addresses",
            &DryRunAnswer::spread),
        FigureFields::eachCard,
    };
};

} // namespace strata::model
