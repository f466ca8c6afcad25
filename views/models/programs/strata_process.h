// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include "views/models/programs/output_lines.h"

#include <utility>

namespace strata::views {

/// `strata` while it runs a program for the window: a process with a session of its own, with a mark in its
/// environment by which all that it starts is found. One run at a time. GUI thread; never waits, but for the
/// destructor: a second at most, so that nothing of a run outlives it.
///
/// Whatever ends a run, `strata` is ended last of all, since it tells what was counted and tidies up.
class StrataProcess : public QObject {
    Q_OBJECT
public:
    using Variables = QList<std::pair<QString, QString>>;

    explicit StrataProcess(QObject* parent = nullptr);
    ~StrataProcess() override;

    /// Starts `program`, the path of `strata`, while none runs; ended() or notStarted() follows. Of
    /// `variables`, which go into the environment of the window, the last of a name counts.
    void start(const QString& program, const QStringList& arguments, const Variables& variables,
        const QString& folder);
    /// Interrupts what `strata` runs; what does not end for that is killed, and with it all processes that it
    /// started. False: nothing runs, or that is under way already.
    bool cancel();

    [[nodiscard]] bool running() const { return m_process.state() != QProcess::NotRunning; }
    [[nodiscard]] qint64 processId() const { return m_process.processId(); } ///< 0: it does not run

Q_SIGNALS:
    void written(const QByteArray& bytes); ///< to stderr, by `strata` and by what it runs
    void said(const QString& line); ///< by `strata`, of what was written(): "strata: LINE"
    /// After all that was written(). `document` is what stood on stdout, 64 MiB of it at most.
    void ended(const QByteArray& document, int exitCode, QProcess::ExitStatus status);
    void notStarted(const QString& problem); ///< in words

private:
    void readErrors();
    void readDocument();
    void tellLines();
    void finished(int exitCode, QProcess::ExitStatus status);
    void signalFamily(int signal) const;

    QProcess m_process;
    QByteArray m_mark; // NAME=value that all processes of the run inherit
    bool m_isCancelled = false;
    QTimer m_firmer; // while cancelling
    int m_firmness = 0;
    OutputLines m_lines;
    QByteArray m_document;
};

} // namespace strata::views
