// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/dry_run_job.h"

#include "views/models/process_family.h"
#include "views/models/shell_words.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProcessEnvironment>
#include <QUuid>

#include <csignal>
#include <unistd.h>
#include <utility>

namespace strata::views {

namespace {

const QString kMark = QStringLiteral("STRATA_DRYRUN_WINDOW");
const QString kSays = QStringLiteral("strata: ");
const QString kComplains = QStringLiteral("strata: dryrun: ");
constexpr int kOutputEveryMs = 100;
constexpr qsizetype kMostDocument = 64 << 20;
// A program may write files when it is interrupted; what does not end then is killed, `strata` last of all,
// since it tells what was counted and tidies up.
constexpr int kPatienceMs = 3000;
constexpr int kHurryMs = 2000;

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
    m_process.setChildProcessModifier([] { setsid(); });
    m_process.setStandardInputFile(QProcess::nullDevice());
    connect(&m_process, &QProcess::readyReadStandardError, this, &DryRunJob::readErrors);
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &DryRunJob::readDocument);
    connect(&m_process, &QProcess::finished, this, &DryRunJob::finished);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart)
            return; // finished() follows
        m_outcome.problem = tr("%1 does not start: %2").arg(m_program, m_process.errorString());
        Q_EMIT ended(m_outcome);
    });
    m_told.setSingleShot(true);
    connect(&m_told, &QTimer::timeout, this, &DryRunJob::outputWritten);
    m_firmer.setSingleShot(true);
    connect(&m_firmer, &QTimer::timeout, this, [this] {
        signalFamily(SIGKILL);
        if (m_firmness++ > 0)
            m_process.kill();
        m_firmer.start(kHurryMs);
    });
}

DryRunJob::~DryRunJob()
{
    if (!running())
        return;
    disconnect(&m_process, nullptr, this, nullptr);
    // Without its command it ends by itself, and takes its scratch files with it.
    constexpr int kMoment = 500;
    signalFamily(SIGKILL);
    if (!m_process.waitForFinished(kMoment)) {
        signalFamily(SIGKILL);
        m_process.kill();
        m_process.waitForFinished(kMoment);
    }
    signalFamily(SIGKILL);
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
    m_document.clear();
    m_lines = {};
    m_scan = {};
    m_progress.clear();
    m_complaint.clear();
    m_firmness = 0;

    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const auto& [name, value] : command.variables)
        environment.insert(name, value);
    // Lines come when they are printed, not when a buffer is full.
    if (!environment.contains(QStringLiteral("PYTHONUNBUFFERED")))
        environment.insert(QStringLiteral("PYTHONUNBUFFERED"), QStringLiteral("1"));
    const QString mark = QUuid::createUuid().toString(QUuid::WithoutBraces);
    environment.insert(kMark, mark);
    m_mark = (kMark + QLatin1Char('=') + mark).toLatin1();
    m_process.setProcessEnvironment(environment);
    m_process.setWorkingDirectory(folder);

    QStringList arguments{ QStringLiteral("dryrun") };
    arguments << request.options() << QStringLiteral("--json");
    if (!m_outcome.recording.isEmpty())
        arguments << QStringLiteral("--overwrite") << QStringLiteral("-o") << m_outcome.recording;
    arguments << QStringLiteral("--") << command.words;
    m_clock.start();
    m_process.start(m_program, arguments);
    return true;
}

void DryRunJob::cancel()
{
    if (!running() || m_outcome.cancelled)
        return;
    m_outcome.cancelled = true;
    signalFamily(SIGINT);
    m_firmer.start(kPatienceMs);
    Q_EMIT progressed();
}

qint64 DryRunJob::elapsedMs() const
{
    return running() ? m_clock.elapsed() : m_outcome.elapsedMs;
}

/// To all processes of the run but `strata`.
void DryRunJob::signalFamily(int signal) const
{
    for (const pid_t process : familyOf(static_cast<pid_t>(m_process.processId()), m_mark))
        ::kill(process, signal);
}

void DryRunJob::readErrors()
{
    const QByteArray bytes = m_process.readAllStandardError();
    m_lines.feed(bytes);
    m_scan.feed(bytes);
    for (const QString& line : m_scan.take())
        noteLine(line);
    if (!m_told.isActive())
        m_told.start(kOutputEveryMs);
}

void DryRunJob::noteLine(const QString& line)
{
    if (!line.startsWith(kSays))
        return;
    if (line.startsWith(kComplains)) {
        m_complaint = line.mid(kComplains.size());
        return;
    }
    m_progress = line.mid(kSays.size());
    m_outcome.began = true;
    Q_EMIT progressed();
}

void DryRunJob::readDocument()
{
    const QByteArray bytes = m_process.readAllStandardOutput();
    if (m_document.size() + bytes.size() <= kMostDocument)
        m_document += bytes;
}

void DryRunJob::finished(int exitCode, QProcess::ExitStatus status)
{
    m_firmer.stop();
    readErrors();
    readDocument();
    m_lines.finish();
    m_scan.finish();
    for (const QString& line : m_scan.take())
        noteLine(line);
    m_told.stop();
    Q_EMIT outputWritten();
    if (m_outcome.cancelled) // what left the family in time
        for (const pid_t process : familyOf(0, m_mark))
            ::kill(process, SIGKILL);
    m_outcome.elapsedMs = m_clock.elapsed();
    m_outcome.exitStatus = exitCode;
    m_outcome.result = DryRunResult::parse(std::exchange(m_document, {}));
    m_outcome.problem = m_complaint;
    if (status == QProcess::CrashExit)
        m_outcome.signalled = tr("signal %1").arg(exitCode);
    if (!QFileInfo::exists(m_outcome.recording))
        m_outcome.recording.clear();
    Q_EMIT ended(m_outcome);
}

} // namespace strata::views
