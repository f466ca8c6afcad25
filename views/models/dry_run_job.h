// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include "views/models/dry_run_request.h"
#include "views/models/dry_run_result.h"
#include "views/models/output_lines.h"

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

/// Runs `strata dryrun --json` for a request, as a process with a session of its own, and collects what it
/// and the command write. One run at a time. GUI thread; never waits, but for the destructor: a moment, so
/// that nothing of a run outlives it.
class DryRunJob : public QObject {
    Q_OBJECT
public:
    /// `program`: the path of `strata`.
    explicit DryRunJob(const QString& program, QObject* parent = nullptr);
    ~DryRunJob() override;

    /// Starts, or says in words why it cannot and returns false: see `problem`. The recording goes to
    /// `recording`, whatever the request says; with --fit there is none.
    [[nodiscard]] bool start(const DryRunRequest& request, const QString& recording, QString& problem);
    /// Interrupts the command, so that what was counted until then is still told; what does not end for that
    /// is killed, and with it all processes that it started.
    void cancel();

    [[nodiscard]] bool running() const { return m_process.state() != QProcess::NotRunning; }
    [[nodiscard]] bool cancelling() const { return m_outcome.cancelled && running(); }
    [[nodiscard]] qint64 elapsedMs() const;
    [[nodiscard]] const DryRunRequest& request() const { return m_outcome.request; } ///< of the last start
    [[nodiscard]] QString progress() const { return m_progress; } ///< what `strata` said last
    [[nodiscard]] OutputLines& output() { return m_lines; }
    [[nodiscard]] qint64 processId() const { return m_process.processId(); } ///< of `strata`

Q_SIGNALS:
    void outputWritten(); ///< there is something to take from output(); at most ten times a second
    void progressed();
    void ended(const strata::views::DryRunOutcome& outcome);

private:
    void readErrors();
    void readDocument();
    void finished(int exitCode, QProcess::ExitStatus status);
    void signalFamily(int signal) const;
    void noteLine(const QString& line);

    QString m_program;
    QProcess m_process;
    QByteArray m_mark; // NAME=value that all processes of the run inherit
    QTimer m_firmer; // while cancelling
    int m_firmness = 0;
    QTimer m_told; // paces outputWritten()
    QElapsedTimer m_clock;
    QByteArray m_document; // of the command's JSON
    OutputLines m_lines;
    OutputLines m_scan; // the same bytes, for what `strata` says among them
    QString m_progress;
    QString m_complaint;
    DryRunOutcome m_outcome;
};

} // namespace strata::views
