// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/confirm_job.h"

#include "views/models/process_family.h"
#include "views/models/shell_words.h"
#include "views/style/texts.h"

#include <QDir>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcessEnvironment>
#include <QUuid>

#include <csignal>
#include <unistd.h>
#include <utility>

namespace strata::views {

namespace {

const QString kMark = QStringLiteral("STRATA_CONFIRM_WINDOW");
const QString kSays = QStringLiteral("strata: ");
constexpr int kPatienceMs = 3000, kHurryMs = 2000;
constexpr qsizetype kMostDocument = 64 << 20;

std::optional<model::PeakFigures> figuresOf(const QJsonValue& json)
{
    if (!json.isObject())
        return std::nullopt;
    const auto bytes = [&](const char* key) { return json[QLatin1String(key)].toInteger(); };
    return model::PeakFigures{ bytes("requested_bytes_peak"), bytes("allocated_bytes_peak"),
        bytes("reserved_bytes_peak") };
}

QString folderOf(const ConfirmRequest& request)
{
    const QString folder = request.folder.trimmed();
    if (folder.isEmpty())
        return QDir::homePath();
    return folder.startsWith(QLatin1Char('~')) ? QDir::homePath() + folder.mid(1) : folder;
}

} // namespace

QStringList ConfirmRequest::arguments() const
{
    QStringList all = words;
    all << QStringLiteral("--confirm");
    if (byCalls) {
        if (!python.trimmed().isEmpty())
            all << QStringLiteral("--python") << python.trimmed();
        return all;
    }
    const ShellCommand program = splitCommand(command);
    if (!program.runnable())
        return {};
    return all << QStringLiteral("--") << program.words;
}

QString ConfirmRequest::commandLine() const
{
    QStringList quoted{ QStringLiteral("strata") };
    for (const QString& word : arguments())
        quoted << text::shellQuoted(word);
    return quoted.size() > 1 ? quoted.join(QLatin1Char(' ')) : QString();
}

std::optional<Confirmation> Confirmation::parse(const QByteArray& json, QString& problem)
{
    const QJsonObject told = QJsonDocument::fromJson(json).object();
    const QJsonValue refused = told[QLatin1String("refused")];
    if (refused.isString())
        problem = refused.toString();
    const QJsonValue device = told[QLatin1String("devices")].toArray().at(0);
    const auto changed = figuresOf(device[QLatin1String("confirmed")]);
    const QString note = device[QLatin1String("confirmed_note")].toString();
    if (!changed) {
        if (!note.isEmpty())
            problem = note;
        return std::nullopt;
    }
    return Confirmation{ .changed = *changed,
        .unchanged = figuresOf(device[QLatin1String("confirmed_unchanged")]).value_or(model::PeakFigures()),
        .estimate = figuresOf(device[QLatin1String("predicted")]),
        .byCalls = device[QLatin1String("confirmed_by")].toString() == QLatin1String("calls"),
        .note = note };
}

ConfirmJob::ConfirmJob(const QString& program, QObject* parent)
    : QObject(parent)
    , m_program(program)
{
    m_process.setChildProcessModifier([] { setsid(); });
    m_process.setStandardInputFile(QProcess::nullDevice());
    connect(&m_process, &QProcess::readyReadStandardError, this, &ConfirmJob::readErrors);
    connect(&m_process, &QProcess::finished, this, &ConfirmJob::finished);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart)
            return; // finished() follows
        m_outcome.problem = tr("%1 does not start: %2").arg(m_program, m_process.errorString());
        Q_EMIT ended(m_outcome);
    });
    m_firmer.setSingleShot(true);
    connect(&m_firmer, &QTimer::timeout, this, [this] {
        signalFamily(SIGKILL);
        if (m_firmness++ > 0)
            m_process.kill();
        m_firmer.start(kHurryMs);
    });
}

ConfirmJob::~ConfirmJob()
{
    if (!running())
        return;
    disconnect(&m_process, nullptr, this, nullptr);
    constexpr int kMoment = 500;
    signalFamily(SIGKILL);
    m_process.kill();
    m_process.waitForFinished(kMoment);
    signalFamily(SIGKILL);
}

bool ConfirmJob::start(const ConfirmRequest& request, QString& problem)
{
    const ShellCommand command = splitCommand(request.command);
    const QString folder = folderOf(request);
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
    m_document.clear();
    m_lines = {};
    m_progress.clear();
    m_complaint.clear();
    m_firmness = 0;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (!request.byCalls)
        for (const auto& [name, value] : command.variables)
            environment.insert(name, value);
    const QString mark = QUuid::createUuid().toString(QUuid::WithoutBraces);
    environment.insert(kMark, mark);
    m_mark = (kMark + QLatin1Char('=') + mark).toLatin1();
    m_process.setProcessEnvironment(environment);
    m_process.setWorkingDirectory(request.byCalls ? QDir::homePath() : folder);
    QStringList arguments = request.arguments();
    arguments.insert(arguments.indexOf(QStringLiteral("--confirm")), QStringLiteral("--json"));
    m_process.start(m_program, arguments);
    return true;
}

void ConfirmJob::cancel()
{
    if (!running() || m_outcome.cancelled)
        return;
    m_outcome.cancelled = true;
    signalFamily(SIGINT);
    m_firmer.start(kPatienceMs);
    Q_EMIT progressed();
}

/// To all processes of the run but `strata`.
void ConfirmJob::signalFamily(int signal) const
{
    for (const pid_t process : familyOf(static_cast<pid_t>(m_process.processId()), m_mark))
        ::kill(process, signal);
}

void ConfirmJob::readErrors()
{
    m_lines.feed(m_process.readAllStandardError());
    for (const QString& line : m_lines.take()) {
        if (!line.startsWith(kSays))
            continue;
        m_progress = m_complaint = line.mid(kSays.size());
        Q_EMIT progressed();
    }
}

void ConfirmJob::finished()
{
    m_firmer.stop();
    readErrors();
    m_document = m_process.readAllStandardOutput();
    if (m_outcome.cancelled)
        for (const pid_t process : familyOf(0, m_mark)) // what left the family in time
            ::kill(process, SIGKILL);
    if (m_document.size() <= kMostDocument)
        m_outcome.confirmation = Confirmation::parse(std::exchange(m_document, {}), m_outcome.problem);
    if (!m_outcome.confirmation && m_outcome.problem.isEmpty())
        m_outcome.problem = m_complaint;
    Q_EMIT ended(m_outcome);
}

} // namespace strata::views
