// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <optional>
#include <utility>
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
    struct Card {
        QString name;
        qint64 marginBytes = 0;
    };
    std::vector<Card> fitsOn;
    std::vector<Card> tryOn; ///< after an out-of-memory: cards that may do
    qint64 neededAtLeast = 0; ///< then
    qint64 steps = 0;
    int exitStatus = 0;
    std::optional<DryRunFailure> failure;

    [[nodiscard]] bool touched() const { return !devices.empty(); } ///< a device was used by some process
    [[nodiscard]] bool fits() const;
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

/// What --time tells: how long a step takes at least.
struct DryRunStepTime {
    QString card;
    QString problem; ///< why it is not known; the rest is empty then
    std::optional<qint64> step; ///< which one; nothing: all that the program did
    qint64 leastNs = 0;
    double flops = 0;
    qint64 bytes = 0;
    qint64 launches = 0;
    struct Kind {
        QString name;
        qint64 launches = 0;
        double flops = 0;
        qint64 bytes = 0, leastNs = 0;
    };
    std::vector<Kind> kinds; ///< the longest first
    std::vector<std::pair<QString, qint64>> unknown; ///< operators of unknown cost, and their launches
    qint64 unknownLaunches = 0, outsideLaunches = 0; ///< the latter, of no operator, are among the former
    struct Collective {
        QString name;
        qint64 bytes = 0;
    };
    std::vector<Collective> collectives;
    std::optional<qint64> cpuStepNs; ///< of a step on this machine
    qint64 stepsTimed = 0;
    struct Card {
        QString name;
        qint64 leastNs = 0;
        bool fits = false;
    };
    std::vector<Card> cards;
};

/// The document of `strata dryrun --json`: every figure that the page shows is one of these.
struct DryRunResult {
    QString device;
    qint64 capacityBytes = 0;
    QString torch;
    DryRunFigures run;
    struct Group {
        QString key;
        qint64 bytes = 0;
    };
    std::vector<Group> groups; ///< at the peak of requested bytes, largest first
    bool stepsAreMarked = false; ///< by the program, and no calls of an optimizer's step()
    bool weightsSkipped = true; ///< those on the CPU were not initialised
    QString stepsNote; ///< why the steps that were asked for did not end the program; empty where they did
    struct Outside {
        QString name, each, source;
        qint64 lowBytes = 0, highBytes = 0, countedBytes = 0;
    };
    std::optional<DryRunStepTime> time; ///< with --time, of the run as it is
    std::vector<Outside> outside; ///< what PyTorch does not count, or asks a library for
    QStringList changes;
    std::optional<DryRunFigures> changed; ///< with --change: the run with the changes, where they were made
    QString changesNote; ///< why they were not; empty where they were

    struct Variable {
        QString name;
        qint64 lowest = 0, highest = 0;
    };
    std::vector<Variable>
        variables; ///< with --fit; all above but device, capacity and stepsNote is empty then
    std::vector<DryRunTrial> best, tried;
    [[nodiscard]] bool isFit() const { return !variables.empty(); }

    /// The run whose verdict counts: the changed one where there is one.
    [[nodiscard]] const DryRunFigures& judged() const { return changed ? *changed : run; }

    /// Nothing if this is no such document.
    [[nodiscard]] static std::optional<DryRunResult> parse(const QByteArray& json);
};

} // namespace strata::views
