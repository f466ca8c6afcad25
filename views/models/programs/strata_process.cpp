// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/strata_process.h"

#include "views/models/programs/process_family.h"

#include <QProcessEnvironment>
#include <QUuid>

#include <csignal>
#include <unistd.h>
#include <utility>

namespace strata::views {

namespace {

const QString kMark = QStringLiteral("STRATA_WINDOW_RUN");
const QString kSays = QStringLiteral("strata: ");
constexpr qsizetype kMostDocument = 64 << 20;
// A program may write files when it is interrupted.
constexpr int kPatienceMs = 3000, kHurryMs = 2000;

} // namespace

StrataProcess::StrataProcess(QObject* parent)
    : QObject(parent)
{
    m_process.setChildProcessModifier([] { setsid(); });
    m_process.setStandardInputFile(QProcess::nullDevice());
    connect(&m_process, &QProcess::readyReadStandardError, this, &StrataProcess::readErrors);
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &StrataProcess::readDocument);
    connect(&m_process, &QProcess::finished, this, &StrataProcess::finished);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart)
            return; // finished() follows
        m_firmer.stop();
        Q_EMIT notStarted(tr("%1 does not start: %2").arg(m_process.program(), m_process.errorString()));
    });
    m_firmer.setSingleShot(true);
    connect(&m_firmer, &QTimer::timeout, this, [this] {
        signalFamily(SIGKILL);
        if (m_firmness++ > 0)
            m_process.kill();
        m_firmer.start(kHurryMs);
    });
}

StrataProcess::~StrataProcess()
{
    if (!running())
        return;
    disconnect(&m_process, nullptr, this, nullptr);
    // Without what it runs it ends by itself, and takes its scratch files with it.
    constexpr int kMoment = 500;
    signalFamily(SIGKILL);
    if (!m_process.waitForFinished(kMoment)) {
        signalFamily(SIGKILL);
        m_process.kill();
        m_process.waitForFinished(kMoment);
    }
    signalFamily(SIGKILL);
}

void StrataProcess::start(
    const QString& program, const QStringList& arguments, const Variables& variables, const QString& folder)
{
    m_isCancelled = false;
    m_firmness = 0;
    m_lines = {};
    m_document.clear();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const auto& [name, value] : variables)
        environment.insert(name, value);
    const QString mark = QUuid::createUuid().toString(QUuid::WithoutBraces);
    environment.insert(kMark, mark);
    m_mark = (kMark + QLatin1Char('=') + mark).toLatin1();
    m_process.setProcessEnvironment(environment);
    m_process.setWorkingDirectory(folder);
    m_process.start(program, arguments);
}

bool StrataProcess::cancel()
{
    if (!running() || m_isCancelled)
        return false;
    m_isCancelled = true;
    signalFamily(SIGINT);
    m_firmer.start(kPatienceMs);
    return true;
}

/// To all processes of the run but `strata`.
void StrataProcess::signalFamily(int signal) const
{
    for (const pid_t process : familyOf(static_cast<pid_t>(m_process.processId()), m_mark))
        ::kill(process, signal);
}

void StrataProcess::readErrors()
{
    const QByteArray bytes = m_process.readAllStandardError();
    m_lines.feed(bytes);
    Q_EMIT written(bytes);
    tellLines();
}

void StrataProcess::tellLines()
{
    for (const QString& line : m_lines.take())
        if (line.startsWith(kSays))
            Q_EMIT said(line.mid(kSays.size()));
}

void StrataProcess::readDocument()
{
    const QByteArray bytes = m_process.readAllStandardOutput();
    if (m_document.size() + bytes.size() <= kMostDocument)
        m_document += bytes;
}

void StrataProcess::finished(int exitCode, QProcess::ExitStatus status)
{
    m_firmer.stop();
    readErrors();
    readDocument();
    m_lines.finish();
    tellLines();
    if (m_isCancelled) // what left the family in time
        for (const pid_t process : familyOf(0, m_mark))
            ::kill(process, SIGKILL);
    Q_EMIT ended(std::exchange(m_document, {}), exitCode, status);
}

} // namespace strata::views
