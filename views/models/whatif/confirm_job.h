// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "model/whatif/ask/scenario.h"
#include "views/models/programs/strata_process.h"

#include <optional>

namespace strata::views {

/// What is to be run so that an answer of a what-if is known to the byte. A value.
struct ConfirmRequest {
    QStringList words; ///< of WhatIfQuestion: "whatif", the file, the changes
    bool byCalls = false; ///< the recorded calls are made again; else the program is run
    QString python; ///< whose PyTorch makes the calls; empty: python3
    QString command; ///< of the program as typed, see splitCommand(); {BATCH} stands for items
    QString folder; ///< where the program runs; empty: the home folder

    /// What stands behind `strata`, to be run by whoever wants to; empty: the command cannot be run.
    [[nodiscard]] QStringList arguments() const;
    [[nodiscard]] QString workingFolder() const;
    /// The line for a terminal that does the same: goes to the folder, sets variables, runs `strata whatif`.
    [[nodiscard]] QString commandLine() const;
};

/// What a run came to.
struct Confirmation {
    model::PeakFigures changed, unchanged; ///< with the changes, and without
    std::optional<model::PeakFigures> estimate; ///< what it was held against
    bool byCalls = false;
    bool runsOutOfMemory = false; ///< a request was refused; the peaks are then those of a device with room
    QString note; ///< what makes it doubtful; empty: nothing

    /// Of `strata whatif --confirm --json` of one device; none: it has none, and why is in `problem`.
    [[nodiscard]] static std::optional<Confirmation> parse(const QByteArray& json, QString& problem);
};

struct ConfirmOutcome {
    ConfirmRequest request;
    bool cancelled = false;
    std::optional<Confirmation> confirmation;
    QString problem; ///< why there is none, as `strata` says it, or how it was ended
};

/// Runs `strata whatif --confirm --json`, the one way in which a what-if of the window runs anything. One
/// run at a time. Thread and destructor as those of StrataProcess.
class ConfirmJob : public QObject {
    Q_OBJECT
public:
    /// `program`: the path of `strata`; empty: it is not there.
    explicit ConfirmJob(const QString& program, QObject* parent = nullptr);

    void setProgram(const QString& program) { m_program = program; } ///< of the next start
    /// Starts, or says in words why it cannot and returns false.
    [[nodiscard]] bool start(const ConfirmRequest& request, QString& problem);
    void cancel(); ///< interrupts it; what does not end for that is killed
    [[nodiscard]] bool running() const { return m_strata.running(); }
    [[nodiscard]] bool cancelling() const { return m_outcome.cancelled && running(); }
    [[nodiscard]] const ConfirmRequest& request() const { return m_outcome.request; } ///< of the last start
    [[nodiscard]] QString progress() const { return m_progress; } ///< what `strata` said last

Q_SIGNALS:
    void progressed();
    void ended(const strata::views::ConfirmOutcome& outcome);

private:
    void noteLine(const QString& line);
    void finished(const QByteArray& document, int exitCode, QProcess::ExitStatus status);

    QString m_program;
    StrataProcess m_strata;
    QString m_progress;
    QString m_complaint;
    ConfirmOutcome m_outcome;
};

} // namespace strata::views
