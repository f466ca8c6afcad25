// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

#include "model/dryrun/dry_run_answer.h"
#include "model/dryrun/dry_run_fit.h"

#include <optional>
#include <vector>

namespace strata::views {

/// One device of one process of a dry run. Bytes.
struct DryRunDevice {
    int rank = 0;
    int worldSize = 1;
    int device = 0;
    qint64 requestedPeak = 0;
    qint64 allocatedPeak = 0;
    bool allocatedIsLeast = false; ///< it ended with an allocation of which more was not seen
    qint64 reservedPeak = 0;
    bool fits = true;
    qint64 outOfMemories = 0;
    std::optional<qint64> firstRefused;
    // What was counted besides; -1 where the report does not say, which is so for devices that were not used.
    qint64 events = -1;
    qint64 allocations = -1;
    qint64 requestedPeakEvent = -1, requestedPeakSteps = -1;
    qint64 reservedPeakEvent = -1, reservedPeakSteps = -1;

    [[nodiscard]] bool used() const { return reservedPeak > 0 || requestedPeak > 0 || outOfMemories > 0; }
};

struct DryRunFailure {
    QString kind, what, where, hint;
};

/// One run of the command: `strata dryrun` tells of one, or with --change of two.
struct DryRunFigures {
    std::vector<DryRunDevice> devices;
    std::string fit; ///< with the CUDA context: a word of model::fitWord(); empty: not told
    std::vector<model::CardMargin> fitsOn;
    std::vector<model::CardMargin> tryOn; ///< after an out-of-memory: cards that may do
    qint64 neededAtLeast = 0; ///< then
    qint64 steps = 0;
    int exitStatus = 0;
    std::optional<DryRunFailure> failure;
    std::optional<std::vector<model::OtherCardRun>> eachCard; ///< with --on-each-card

    [[nodiscard]] bool touched() const { return !devices.empty(); } ///< a device was used by some process
    [[nodiscard]] bool fits() const; ///< or is tight
    [[nodiscard]] bool isTight() const; ///< the CUDA context may need the rest of the card
    /// The one with the highest reserved peak; nullptr if none was touched.
    [[nodiscard]] const DryRunDevice* highest() const;
    [[nodiscard]] qint64 requestedPeak() const; ///< the highest of all devices, as reservedPeak()
    [[nodiscard]] qint64 reservedPeak() const;
    [[nodiscard]] qint64 allocations() const;
    /// The first device that refused a request; nullptr if none did.
    [[nodiscard]] const DryRunDevice* firstRefusing() const;
};

/// What `strata dryrun --fit` tried.
struct DryRunTrial {
    std::vector<qint64> values; ///< of the variables, in their order
    bool fits = false;
    qint64 requestedPeak = 0;
    qint64 reservedPeak = 0;
    std::optional<qint64> firstRefused;
};

/// The document of `strata dryrun --json`: every figure that the page shows is one of these.
struct DryRunResult {
    QString device;
    qint64 capacityBytes = 0;
    QString torch;
    DryRunFigures run;
    std::vector<model::PeakGroup> groups; ///< at the peak of requested bytes, largest first
    bool stepsAreMarked = false; ///< by the program, and no calls of an optimizer's step()
    bool weightsSkipped = true; ///< those on the CPU were not initialised
    QString stepsNote; ///< why the steps that were asked for did not end the program; empty where they did
    std::optional<model::DryRunTime> time; ///< with --time, of the run as it is
    std::vector<model::Assumption> outside; ///< what PyTorch does not count, or asks a library for
    QStringList changes;
    std::optional<DryRunFigures> changed; ///< with --change: the run with the changes, where they were made
    QString changesNote; ///< why they were not; empty where they were

    std::vector<model::FitVariable>
        variables; ///< with --fit; all above but device, capacity and stepsNote is empty then
    std::vector<DryRunTrial> best, tried;
    [[nodiscard]] bool isFit() const { return !variables.empty(); }

    /// The run whose verdict counts: the changed one where there is one.
    [[nodiscard]] const DryRunFigures& judged() const { return changed ? *changed : run; }

    /// Nothing if this is no such document.
    [[nodiscard]] static std::optional<DryRunResult> parse(const QByteArray& json);
};

} // namespace strata::views
