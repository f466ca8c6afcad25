// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include "views/models/programs/dry_run_request.h"
#include "views/models/programs/dry_run_result.h"
#include "views/models/programs/output_lines.h"
#include "views/models/programs/strata_process.h"

#include <optional>

namespace strata::views {

/// How a dry run ended.
struct DryRunOutcome {
    DryRunRequest request;
    bool began = false; ///< the command was started
    bool cancelled = false;
    std::optional<DryRunResult> result; ///< what `strata dryrun` printed; nothing: see `problem`
    QString problem; ///< what kept it from starting or telling, as `strata` says it on its last line
    QString signalled; ///< `strata` itself was ended, which it never should be
    int exitStatus = 0; ///< of `strata`: 0 fits, 1 does not fit or failed, 2 bad usage
    qint64 elapsedMs = 0;
    QString recording; ///< empty: none was written
};

/// `strata` beside this program, as `strata render` takes `strata-gui`; empty if it is not there.
[[nodiscard]] QString commandLineProgram();

/// Runs `strata dryrun --json` for a request, and collects what it and the command write. One run at a time.
/// Thread and destructor as those of StrataProcess.
class DryRunJob : public QObject {
    Q_OBJECT
public:
    /// `program`: the path of `strata`.
    explicit DryRunJob(const QString& program, QObject* parent = nullptr);

    /// Starts, or says in words why it cannot and returns false: see `problem`. The recording goes to
    /// `recording`, whatever the request says; with --fit there is none.
    [[nodiscard]] bool start(const DryRunRequest& request, const QString& recording, QString& problem);
    /// Interrupts the command, so that what was counted until then is still told; what does not end for that
    /// is killed, and with it all processes that it started.
    void cancel();

    [[nodiscard]] bool running() const { return m_strata.running(); }
    [[nodiscard]] bool cancelling() const { return m_outcome.cancelled && running(); }
    [[nodiscard]] qint64 elapsedMs() const;
    [[nodiscard]] const DryRunRequest& request() const { return m_outcome.request; } ///< of the last start
    [[nodiscard]] QString progress() const { return m_progress; } ///< what `strata` said last
    [[nodiscard]] OutputLines& output() { return m_lines; }
    [[nodiscard]] qint64 processId() const { return m_strata.processId(); } ///< of `strata`

Q_SIGNALS:
    void outputWritten(); ///< there is something to take from output(); at most ten times a second
    void progressed();
    void ended(const strata::views::DryRunOutcome& outcome);

private:
    void readOutput(const QByteArray& bytes);
    void noteLine(const QString& line);
    void finished(const QByteArray& document, int exitCode, QProcess::ExitStatus status);

    QString m_program;
    StrataProcess m_strata;
    QTimer m_told; // paces outputWritten()
    QElapsedTimer m_clock;
    OutputLines m_lines;
    QString m_progress;
    QString m_complaint;
    DryRunOutcome m_outcome;
};

} // namespace strata::views
