// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/live/inject_job.h"

#include <QProcess>

#include <utility>

namespace strata::views {

namespace {

constexpr int kUsage = 2; // of strata: with a plan before it, nobody could be asked

QString withoutName(const QString& line)
{
    return line.startsWith(QLatin1String("strata: ")) ? line.mid(8) : line;
}

} // namespace

InjectJob::InjectJob(const QString& program, QObject* parent)
    : QObject(parent)
    , m_program(program)
{
}

InjectJob::~InjectJob()
{
    if (m_running) {
        m_running->disconnect(this);
        m_running->terminate(); // it leads the process back before it ends
        m_running->waitForFinished(1'000);
    }
}

void InjectJob::ask(qint64 process)
{
    run(process, {});
}

void InjectJob::begin(qint64 process)
{
    run(process, { QStringLiteral("--yes") });
}

void InjectJob::run(qint64 process, const QStringList& options)
{
    if (m_running)
        return;
    m_running = new QProcess(this);
    m_running->setProcessChannelMode(QProcess::MergedChannels);
    m_running->setStandardInputFile(QProcess::nullDevice());
    const bool asked = options.isEmpty();
    connect(m_running, &QProcess::finished, this, [this, process, asked] { ended(process, asked); });
    connect(m_running, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart)
            return;
        std::exchange(m_running, nullptr)->deleteLater();
        Q_EMIT runningChanged();
        Q_EMIT refused(tr("%1 cannot be started.").arg(m_program), tr("Is Strata installed as a whole?"));
    });
    m_running->start(m_program,
        QStringList{ QStringLiteral("attach"), QString::number(process), QStringLiteral("--inject"),
            QStringLiteral("--keep") }
            + options);
    Q_EMIT runningChanged();
}

void InjectJob::ended(qint64 process, bool asked)
{
    QProcess* const done = std::exchange(m_running, nullptr);
    done->deleteLater();
    Q_EMIT runningChanged();
    QStringList lines;
    for (const QString& line :
        QString::fromUtf8(done->readAll()).split(QLatin1Char('\n'), Qt::SkipEmptyParts))
        lines.append(withoutName(line));
    const bool ran = done->exitStatus() == QProcess::NormalExit;
    if (asked && ran && done->exitCode() == kUsage && lines.size() > 1) {
        lines.removeLast();
        Q_EMIT planned(process, lines);
    } else if (!asked && ran && done->exitCode() == 0) {
        Q_EMIT begun(process);
    } else {
        Q_EMIT refused(lines.isEmpty() ? tr("It ended without a word.") : lines.takeLast(),
            tr("The process goes on as before."));
    }
}

} // namespace strata::views
