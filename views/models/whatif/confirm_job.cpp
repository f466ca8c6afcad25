// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/whatif/confirm_job.h"

#include "model/whatif/plan/read_confirmed.h"
#include "views/models/programs/shell_words.h"
#include "views/style/texts.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>

#include <string_view>

namespace strata::views {

namespace {

/// Calls hang on no folder: one that was typed is that of the home folder.
QString pythonOf(const QString& typed)
{
    return typed.contains(QLatin1Char('/')) ? QDir::home().absoluteFilePath(workingFolder(typed)) : typed;
}

} // namespace

QStringList ConfirmRequest::arguments() const
{
    QStringList all = words;
    all << QStringLiteral("--confirm");
    if (byCalls) {
        if (!python.trimmed().isEmpty())
            all << QStringLiteral("--python") << pythonOf(python.trimmed());
        return all;
    }
    const ShellCommand program = splitCommand(command);
    if (!program.runnable())
        return {};
    return all << QStringLiteral("--") << program.words;
}

QString ConfirmRequest::workingFolder() const
{
    return byCalls ? QDir::homePath() : views::workingFolder(folder);
}

QString ConfirmRequest::commandLine() const
{
    const QStringList all = arguments();
    if (all.isEmpty())
        return {};
    QStringList line;
    if (!byCalls) {
        line << QStringLiteral("cd") << text::shellQuoted(workingFolder()) << QStringLiteral("&&");
        for (const auto& [name, value] : splitCommand(command).variables)
            line << name + QLatin1Char('=') + text::shellQuoted(value);
    }
    line << QStringLiteral("strata");
    for (const QString& word : all)
        line << text::shellQuoted(word);
    return line.join(QLatin1Char(' '));
}

std::optional<Confirmation> Confirmation::parse(const QByteArray& json, QString& problem)
{
    const auto answer
        = model::readConfirmed(std::string_view(json.data(), static_cast<std::size_t>(json.size())));
    if (!answer) {
        // Where it ended before that was written, exit status and complaint say why.
        if (QJsonDocument::fromJson(json).isObject())
            problem = text::said(answer.error());
        return std::nullopt;
    }
    if (answer->refused)
        problem = text::utf8(*answer->refused);
    const model::ConfirmedDevice device
        = answer->devices.empty() ? model::ConfirmedDevice() : answer->devices.front();
    const QString note = text::utf8(device.note.value_or(std::string()));
    const auto peaks = device.confirmed ? device.confirmed->withReserved() : std::nullopt;
    if (device.confirmed && !peaks && device.confirmed->requestedBytesPeak)
        problem = ConfirmJob::tr("it requests up to %1, but its reserved peak is not known: %2")
                      .arg(text::bytes(*device.confirmed->requestedBytesPeak), note);
    else if (!peaks && !note.isEmpty())
        problem = note;
    if (!peaks)
        return std::nullopt;
    return Confirmation{ .changed = *peaks,
        .unchanged = device.unchanged.value_or(model::PeakFigures()),
        .estimate = device.predicted,
        .byCalls = device.by == "calls",
        .runsOutOfMemory = device.runsOutOfMemory,
        .note = note };
}

ConfirmJob::ConfirmJob(const QString& program, QObject* parent)
    : QObject(parent)
    , m_program(program)
{
    connect(&m_strata, &StrataProcess::said, this, &ConfirmJob::noteLine);
    connect(&m_strata, &StrataProcess::ended, this, &ConfirmJob::finished);
    connect(&m_strata, &StrataProcess::notStarted, this, [this](const QString& why) {
        m_outcome.problem = why;
        Q_EMIT ended(m_outcome);
    });
}

bool ConfirmJob::start(const ConfirmRequest& request, QString& problem)
{
    const ShellCommand command = splitCommand(request.command);
    const QString folder = request.workingFolder();
    if (running())
        problem = tr("A confirmation is under way: cancel it first.");
    else if (m_program.isEmpty())
        problem = tr("strata, which runs it, is not beside this program: install it again.");
    else if (!request.byCalls && command.unclosedQuote)
        problem = tr("The command has a quote that is not closed: add the missing ' or \".");
    else if (!request.byCalls && command.words.isEmpty())
        problem = tr("There is no command: write what was run, for example python train.py.");
    else if (!request.byCalls && !QFileInfo(folder).isDir())
        problem = tr("%1 is no folder: choose the one that the program is to run in.").arg(folder);
    if (!problem.isEmpty())
        return false;
    m_outcome = {};
    m_outcome.request = request;
    m_progress.clear();
    m_complaint.clear();
    QStringList arguments = request.arguments();
    arguments.insert(arguments.indexOf(QStringLiteral("--confirm")), QStringLiteral("--json"));
    m_strata.start(
        m_program, arguments, request.byCalls ? StrataProcess::Variables() : command.variables, folder);
    return true;
}

void ConfirmJob::cancel()
{
    if (!m_strata.cancel())
        return;
    m_outcome.cancelled = true;
    Q_EMIT progressed();
}

/// An error names the command, or the file that it is about; what goes on does neither.
void ConfirmJob::noteLine(const QString& line)
{
    for (const QString& word : m_outcome.request.words) {
        const QString named = word + QStringLiteral(": ");
        if (!line.startsWith(named))
            continue;
        m_complaint = word == m_outcome.request.words.front() ? line.mid(named.size()) : line;
        return;
    }
    m_progress = line;
    Q_EMIT progressed();
}

void ConfirmJob::finished(const QByteArray& document, int exitCode, QProcess::ExitStatus status)
{
    m_outcome.confirmation = Confirmation::parse(document, m_outcome.problem);
    if (!m_outcome.confirmation && m_outcome.problem.isEmpty())
        m_outcome.problem = !m_complaint.isEmpty()
            ? m_complaint
            : tr("strata ended with %1; run the command above in a terminal to see why")
                  .arg(status == QProcess::CrashExit ? tr("signal %1").arg(exitCode)
                                                     : tr("exit status %1").arg(exitCode));
    Q_EMIT ended(m_outcome);
}

} // namespace strata::views
