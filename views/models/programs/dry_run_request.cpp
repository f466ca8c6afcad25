// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/dry_run_request.h"

#include "model/base/shell.h"
#include "views/models/programs/shell_words.h"

#include <QJsonDocument>
#include <QSettings>

namespace strata::views {

namespace {

const QString kRecent = QStringLiteral("dryrun/recent");

QStringList wordsOf(const QString& text)
{
    return text.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

QString quoted(const QString& text)
{
    return QString::fromStdString(model::shellQuoted(text.toStdString()));
}

} // namespace

QStringList DryRunRequest::options() const
{
    QStringList out;
    const auto add = [&](const char* option, const QString& value) { out << QLatin1String(option) << value; };
    add("--device", device);
    if (!capacity.trimmed().isEmpty())
        add("--capacity", capacity.trimmed());
    if (devices != 1)
        add("--devices", QString::number(devices));
    if (rank) {
        add("--rank", QString::number(*rank));
        add("--world-size", QString::number(worldSize));
    }
    if (steps > 0)
        add("--steps", QString::number(steps));
    if (allocatorSettings)
        add("--set", allocatorSettings->trimmed());
    if (!skipInit)
        out << QStringLiteral("--no-skip-init");
    if (time && fit.trimmed().isEmpty())
        out << QStringLiteral("--time");
    if (onEachCard && fit.trimmed().isEmpty())
        out << QStringLiteral("--on-each-card");
    for (const QString& one : wordsOf(change))
        add("--change", one);
    for (const QString& one : wordsOf(fit))
        add("--fit", one);
    return out;
}

QString DryRunRequest::workingFolder() const
{
    return views::workingFolder(folder);
}

QString DryRunRequest::commandLine() const
{
    const ShellCommand parts = splitCommand(command);
    if (!parts.runnable())
        return {};
    QStringList line;
    for (const auto& [name, value] : parts.variables)
        line << name + QLatin1Char('=') + quoted(value);
    line << QStringLiteral("strata") << QStringLiteral("dryrun");
    for (const QString& option : options())
        line << quoted(option);
    if (!output.trimmed().isEmpty())
        line << QStringLiteral("-o") << quoted(output.trimmed());
    line << QStringLiteral("--");
    for (const QString& word : parts.words)
        line << quoted(word);
    return QStringLiteral("cd %1 && ").arg(quoted(workingFolder())) + line.join(QLatin1Char(' '));
}

QJsonObject DryRunRequest::toJson() const
{
    QJsonObject json{ { QStringLiteral("command"), command }, { QStringLiteral("folder"), folder },
        { QStringLiteral("device"), device }, { QStringLiteral("capacity"), capacity },
        { QStringLiteral("steps"), steps }, { QStringLiteral("world_size"), worldSize },
        { QStringLiteral("devices"), devices }, { QStringLiteral("skip_init"), skipInit },
        { QStringLiteral("time"), time }, { QStringLiteral("on_each_card"), onEachCard },
        { QStringLiteral("change"), change }, { QStringLiteral("fit"), fit },
        { QStringLiteral("output"), output } };
    if (rank)
        json.insert(QStringLiteral("rank"), *rank);
    if (allocatorSettings)
        json.insert(QStringLiteral("set"), *allocatorSettings);
    return json;
}

DryRunRequest DryRunRequest::fromJson(const QJsonObject& json)
{
    const auto value = [&](const char* key) { return json.value(QLatin1String(key)); };
    DryRunRequest out;
    out.command = value("command").toString();
    out.folder = value("folder").toString();
    out.device = value("device").toString(out.device);
    out.capacity = value("capacity").toString();
    out.steps = value("steps").toInt();
    out.worldSize = value("world_size").toInt(out.worldSize);
    out.devices = value("devices").toInt(out.devices);
    out.skipInit = value("skip_init").toBool(true);
    out.time = value("time").toBool();
    out.onEachCard = value("on_each_card").toBool();
    out.change = value("change").toString();
    out.fit = value("fit").toString();
    out.output = value("output").toString();
    if (value("rank").isDouble())
        out.rank = value("rank").toInt();
    if (value("set").isString())
        out.allocatorSettings = value("set").toString();
    return out;
}

RecentDryRuns::RecentDryRuns(QSettings& settings, QObject* parent)
    : QObject(parent)
    , m_settings(settings)
{
}

QList<DryRunRequest> RecentDryRuns::all() const
{
    QList<DryRunRequest> out;
    for (const QString& text : m_settings.value(kRecent).toStringList()) {
        const auto request = DryRunRequest::fromJson(QJsonDocument::fromJson(text.toUtf8()).object());
        if (!request.command.isEmpty())
            out.append(request);
    }
    return out;
}

void RecentDryRuns::add(const DryRunRequest& request)
{
    QList<DryRunRequest> requests = all();
    requests.removeAll(request);
    requests.prepend(request);
    store(requests.mid(0, kMost));
}

void RecentDryRuns::clear()
{
    store({});
}

void RecentDryRuns::store(const QList<DryRunRequest>& requests)
{
    QStringList texts;
    for (const DryRunRequest& request : requests)
        texts << QString::fromUtf8(QJsonDocument(request.toJson()).toJson(QJsonDocument::Compact));
    m_settings.setValue(kRecent, texts);
    Q_EMIT changed();
}

} // namespace strata::views
