// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/dry_run_job.h"

#include "views/models/programs/shell_words.h"

#include <QCoreApplication>
#include <QFileInfo>

namespace strata::views {

namespace {

const QString kComplains = QStringLiteral("dryrun: ");
constexpr int kOutputEveryMs = 100;

} // namespace

QString commandLineProgram()
{
    const QString path = QCoreApplication::applicationDirPath() + QStringLiteral("/strata");
    return QFileInfo(path).isExecutable() ? path : QString();
}

DryRunJob::DryRunJob(const QString& program, QObject* parent)
    : QObject(parent)
    , m_program(program)
{
    connect(&m_strata, &StrataProcess::written, this, &DryRunJob::readOutput);
    connect(&m_strata, &StrataProcess::said, this, &DryRunJob::noteLine);
    connect(&m_strata, &StrataProcess::ended, this, &DryRunJob::finished);
    connect(&m_strata, &StrataProcess::notStarted, this, [this](const QString& problem) {
        m_outcome.problem = problem;
        Q_EMIT ended(m_outcome);
    });
    m_told.setSingleShot(true);
    connect(&m_told, &QTimer::timeout, this, &DryRunJob::outputWritten);
}

bool DryRunJob::start(const DryRunRequest& request, const QString& recording, QString& problem)
{
    const ShellCommand command = splitCommand(request.command);
    const QString folder = request.workingFolder();
    if (running())
        problem = tr("A dry run is under way: cancel it first.");
    else if (m_program.isEmpty())
        problem = tr("strata, which does the dry run, is not beside this program: install it again.");
    else if (command.unclosedQuote)
        problem = tr("The command has a quote that is not closed: add the missing ' or \".");
    else if (command.words.isEmpty())
        problem = tr("There is no command: write what you would type into a terminal, for example python "
                     "train.py.");
    else if (!QFileInfo(folder).isDir())
        problem = tr("%1 is no folder: choose the one that the command is to run in.").arg(folder);
    if (!problem.isEmpty())
        return false;

    m_outcome = {};
    m_outcome.request = request;
    m_outcome.recording = request.fit.trimmed().isEmpty() ? recording : QString();
    m_lines = {};
    m_progress.clear();
    m_complaint.clear();

    StrataProcess::Variables variables = command.variables;
    // Lines come when they are printed, not when a buffer is full.
    if (!qEnvironmentVariableIsSet("PYTHONUNBUFFERED"))
        variables.prepend({ QStringLiteral("PYTHONUNBUFFERED"), QStringLiteral("1") });

    QStringList arguments{ QStringLiteral("dryrun") };
    arguments << request.options() << QStringLiteral("--json");
    if (!m_outcome.recording.isEmpty())
        arguments << QStringLiteral("--overwrite") << QStringLiteral("-o") << m_outcome.recording;
    arguments << QStringLiteral("--") << command.words;
    m_clock.start();
    m_strata.start(m_program, arguments, variables, folder);
    return true;
}

void DryRunJob::cancel()
{
    if (!m_strata.cancel())
        return;
    m_outcome.cancelled = true;
    Q_EMIT progressed();
}

qint64 DryRunJob::elapsedMs() const
{
    return running() ? m_clock.elapsed() : m_outcome.elapsedMs;
}

void DryRunJob::readOutput(const QByteArray& bytes)
{
    m_lines.feed(bytes);
    if (!m_told.isActive())
        m_told.start(kOutputEveryMs);
}

void DryRunJob::noteLine(const QString& line)
{
    if (line.startsWith(kComplains)) {
        m_complaint = line.mid(kComplains.size());
        return;
    }
    m_progress = line;
    m_outcome.began = true;
    Q_EMIT progressed();
}

void DryRunJob::finished(const QByteArray& document, int exitCode, QProcess::ExitStatus status)
{
    m_lines.finish();
    m_told.stop();
    Q_EMIT outputWritten();
    m_outcome.elapsedMs = m_clock.elapsed();
    m_outcome.exitStatus = exitCode;
    m_outcome.result = DryRunResult::parse(document);
    m_outcome.problem = m_complaint;
    if (status == QProcess::CrashExit)
        m_outcome.signalled = tr("signal %1").arg(exitCode);
    if (!QFileInfo::exists(m_outcome.recording))
        m_outcome.recording.clear();
    Q_EMIT ended(m_outcome);
}

} // namespace strata::views
