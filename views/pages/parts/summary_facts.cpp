// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/parts/summary_facts.h"

#include "model/base/words.h"
#include "model/base/wrap.h"
#include "model/session/simulation.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>

#include <algorithm>

namespace strata::views {

namespace {

struct SummaryTexts {
    Q_DECLARE_TR_FUNCTIONS(Summary)
};

Fact bytesFact(
    const QString& label, std::int64_t bytes, std::optional<model::EventIndex> event = std::nullopt)
{
    return { label, text::bytes(bytes), text::exactBytes(bytes), event };
}

/// Any JSON value, also a bare one, which QJsonDocument does not take.
QJsonValue parseJson(const std::string& json)
{
    const QByteArray wrapped = "[" + QByteArray::fromStdString(json) + "]";
    return QJsonDocument::fromJson(wrapped).array().at(0);
}

QString plain(const QJsonValue& value)
{
    if (value.isString())
        return value.toString();
    if (value.isBool())
        return value.toBool() ? SummaryTexts::tr("on") : SummaryTexts::tr("off");
    if (value.isDouble())
        return QString::number(value.toDouble(), 'g', 15);
    if (value.isNull() || value.isUndefined())
        return SummaryTexts::tr("none");
    return QString::fromUtf8(value.isObject()
            ? QJsonDocument(value.toObject()).toJson(QJsonDocument::Compact)
            : QJsonDocument(value.toArray()).toJson(QJsonDocument::Compact));
}

bool allZero(const QJsonValue& value)
{
    const QJsonObject object = value.toObject();
    return value.isObject() && std::all_of(object.begin(), object.end(), [](const QJsonValue& item) {
        return item.toDouble(1) == 0;
    });
}

SettingFact settingFact(const model::Setting& setting)
{
    const QString key = text::utf8(setting.key);
    const QJsonValue value = parseJson(setting.json);
    if (key.startsWith(QLatin1String("max_")) && value.isDouble()) {
        // -1, or what is left of it after a cast or a division by MiB.
        const double bytes = value.toDouble();
        if (bytes < 0 || bytes > 1e15)
            return { key, SummaryTexts::tr("unlimited"), true };
        return { key, text::bytes(static_cast<std::int64_t>(bytes)), false };
    }
    if (value.isObject() && allZero(value))
        return { key, SummaryTexts::tr("off"), true };
    if (value.isString() && value.toString().isEmpty())
        return { key, SummaryTexts::tr("not set"), true };
    if (key == QLatin1String("pinned_num_register_threads"))
        return { key, plain(value), value.toDouble() == 1 };
    if (value.isDouble() && value.toDouble() == 0)
        return { key, SummaryTexts::tr("off"), true };
    const bool usual = value.isBool() && !value.toBool();
    return { key, plain(value), usual };
}

void addTotals(std::vector<Fact>& facts, const model::Totals& totals)
{
    if (totals.reservedKnown)
        facts.push_back(bytesFact(
            SummaryTexts::tr("reserved, peak"), totals.reservedBytesPeak, totals.reservedPeakEvent));
    else
        facts.push_back({ SummaryTexts::tr("reserved"), SummaryTexts::tr("not told"), {}, {}, true });
    facts.push_back(
        bytesFact(SummaryTexts::tr("requested, peak"), totals.requestedBytesPeak, totals.requestedPeakEvent));
    if (totals.endKnown) {
        facts.push_back(bytesFact(SummaryTexts::tr("reserved, end"), totals.reservedBytesEnd));
        facts.push_back(bytesFact(SummaryTexts::tr("active, end"), totals.activeBytesEnd));
        facts.push_back(bytesFact(SummaryTexts::tr("allocated, end"), totals.allocatedBytesEnd));
        facts.push_back(bytesFact(SummaryTexts::tr("requested, end"), totals.requestedBytesEnd));
    } else {
        facts.push_back({ SummaryTexts::tr("state at the end"), SummaryTexts::tr("unknown"), {}, {}, true });
    }
    if (totals.requestedBytesStart > 0)
        facts.push_back(bytesFact(SummaryTexts::tr("requested, start"), totals.requestedBytesStart, -1));
}

/// After a program that ended well it is idle cache, and so stands among the numbers alone.
void addWasteAtEnd(std::vector<Fact>& facts, const model::Waste& waste)
{
    facts.push_back(bytesFact(SummaryTexts::tr("free in segments, end"), waste.freeInSegments));
    facts.push_back(bytesFact(SummaryTexts::tr("rounding, end"), waste.rounding));
    facts.push_back(bytesFact(SummaryTexts::tr("pending free, end"), waste.pendingFree));
}

/// Of its allocator nothing is known.
bool isRefused(const model::Recording& recording)
{
    return recording.refusal.has_value();
}

} // namespace

QString aboutWord(const QString& label)
{
    const QString word = label.section(QLatin1Char(','), 0, 0).trimmed();
    const std::pair<QString, QString> words[] = {
        { SummaryTexts::tr("requested"),
            SummaryTexts::tr(
                "bytes that the program asked for; counts a block until its memory can be used again") },
        { SummaryTexts::tr("allocated"),
            SummaryTexts::tr("requested, rounded up by the allocator; owned by the program") },
        { SummaryTexts::tr("active"),
            SummaryTexts::tr("allocated, and blocks that are freed but still wait for another stream") },
        { SummaryTexts::tr("reserved"), SummaryTexts::tr("all segments: what PyTorch holds of the device") },
        { SummaryTexts::tr("free in segments"),
            SummaryTexts::tr(
                "reserved and in no block: PyTorch uses it again before it asks the driver for more") },
        { SummaryTexts::tr("rounding"),
            SummaryTexts::tr("what the allocator adds to a request, up to its own sizes") },
        { SummaryTexts::tr("pending free"),
            SummaryTexts::tr(
                "freed by the program, waiting for another stream: free_requested came, free_completed "
                "did not") },
    };
    for (const auto& [known, about] : words)
        if (word == known)
            return about;
    return {};
}

std::vector<Fact> numberFacts(const SummaryData& device)
{
    const model::Totals& totals = device.summary->totals;
    const model::Recording& recording = *device.recording;
    std::vector<Fact> facts;
    if (!isRefused(recording)) {
        addTotals(facts, totals);
        if (totals.endKnown)
            addWasteAtEnd(facts, device.summary->waste);
    }
    if (const auto& capacity = device.summary->capacity)
        facts.push_back(
            bytesFact(capacity->exact ? SummaryTexts::tr("capacity") : SummaryTexts::tr("capacity, at least"),
                capacity->bytes));
    facts.push_back({ SummaryTexts::tr("events"), text::count(totals.events), {}, {} });
    if (const auto& first = device.summary->firstTimeNs, &last = device.summary->latestTimeNs; first && last)
        facts.push_back(
            { SummaryTexts::tr("time span"), text::duration(model::wrapSub(*last, *first)), {}, {} });
    else
        facts.push_back(
            { SummaryTexts::tr("time span"), SummaryTexts::tr("no times recorded"), {}, {}, true });
    if (totals.endKnown) {
        facts.push_back({ SummaryTexts::tr("segments, end"), text::count(totals.segments), {}, {} });
        facts.push_back({ SummaryTexts::tr("blocks, end"), text::count(totals.blocks), {}, {} });
    }
    if (!recording.annotations.empty()) {
        const auto count = std::count_if(recording.annotations.begin(), recording.annotations.end(),
            [](const model::Annotation& a) { return a.kind != model::Annotation::Kind::End; });
        facts.push_back({ SummaryTexts::tr("annotations"), text::count(count), {}, {} });
    }
    facts.push_back(bytesFact(SummaryTexts::tr("file"), static_cast<std::int64_t>(recording.fileBytes)));
    facts.push_back({ SummaryTexts::tr("format"), text::utf8(recording.format), {}, {}, true });
    return facts;
}

std::vector<Fact> wasteFacts(const SummaryData& device)
{
    if (isRefused(*device.recording))
        return {};
    const model::PeakUse& use = device.summary->peakUse;
    const model::WasteAtPeak waste = model::wasteAtPeak(use);
    const auto fact = [&](const QString& label, const model::Bound& bound) {
        const QString most = text::bytes(bound.most);
        const QString value = bound.exact() ? most
            : bound.least > 0               ? SummaryTexts::tr("%1 to %2").arg(text::bytes(bound.least), most)
                                            : SummaryTexts::tr("≤ %1").arg(most);
        const QString share = text::share(bound.most, use.reservedBytes);
        return Fact{ label, value,
            use.reservedBytes > 0 ? (bound.exact() ? share : SummaryTexts::tr("≤ %1").arg(share)) : QString(),
            {} };
    };
    return { fact(SummaryTexts::tr("free in segments"), waste.freeInSegments),
        fact(SummaryTexts::tr("rounding"), waste.rounding),
        fact(SummaryTexts::tr("pending free"), { waste.pendingFree, waste.pendingFree }) };
}

std::vector<Fact> driverFacts(const SummaryData& device)
{
    const std::optional<model::DriverSummary>& driver = device.summary->driver;
    if (!driver)
        return {};
    std::vector<Fact> facts{ bytesFact(SummaryTexts::tr("all processes"), driver->usedBytesPeak) };
    if (driver->processBytesPeak)
        facts.push_back(bytesFact(SummaryTexts::tr("this process"), *driver->processBytesPeak));
    if (driver->outsideBytesPeak)
        facts.push_back(bytesFact(SummaryTexts::tr("outside PyTorch"), *driver->outsideBytesPeak));
    return facts;
}

std::vector<Fact> hostFacts(const model::Recording& recording)
{
    if (!recording.host
        || recording.host->segments + recording.host->events + recording.host->reservedBytesPeak.value_or(0)
            == 0)
        return {};
    const model::HostMemory& host = *recording.host;
    std::vector<Fact> facts{ bytesFact(SummaryTexts::tr("reserved"), host.reservedBytes) };
    if (host.reservedBytesPeak)
        facts.push_back(bytesFact(SummaryTexts::tr("reserved, peak"), *host.reservedBytesPeak));
    facts.push_back(bytesFact(SummaryTexts::tr("allocated"), host.allocatedBytes));
    facts.push_back({ SummaryTexts::tr("segments"), text::count(host.segments), {}, {} });
    if (host.events > 0)
        facts.push_back({ SummaryTexts::tr("events"), text::count(host.events), {}, {} });
    return facts;
}

std::vector<Fact> simulationFacts(const model::Recording& recording)
{
    const std::optional<model::Simulation> simulation = model::simulationOf(recording);
    if (!simulation)
        return {};
    std::vector<Fact> facts;
    const auto add = [&facts](const QString& label, const QString& value) {
        if (!value.isEmpty())
            facts.push_back({ label, value, {}, {}, true });
    };
    add(SummaryTexts::tr("device"), text::utf8(simulation->device));
    add(SummaryTexts::tr("command"), text::utf8(simulation->command));
    if (simulation->devices > 1)
        add(SummaryTexts::tr("devices"), text::count(simulation->devices));
    for (const auto& [key, value] : simulation->options)
        if (const QJsonValue option = parseJson(value); key == "rank" || key == "world_size" || key == "set"
            || (key == "changes" && !option.toArray().isEmpty()) || (key == "steps" && option.toDouble() > 0))
            add(text::utf8(key), plain(option));
    return facts;
}

std::vector<SettingFact> settingFacts(const model::Recording& recording)
{
    std::vector<SettingFact> facts;
    for (const model::Setting& setting : recording.settings)
        if (setting.key != model::Simulation::kSetting)
            facts.push_back(settingFact(setting));
    std::stable_partition(facts.begin(), facts.end(), [](const SettingFact& fact) { return !fact.usual; });
    return facts;
}

QString verdictHtml(const std::vector<model::Sentence>& verdict, const QString& link)
{
    QString html;
    for (const model::SentencePiece& piece : model::piecesOf(verdict, text::wording)) {
        QString part = text::unbroken(text::utf8(piece.text).toHtmlEscaped());
        if (piece.strong)
            part = QStringLiteral("<b>%1</b>").arg(part);
        if (!piece.line.empty())
            part = text::linked(part, text::LineLink{ piece.line, piece.link }, link);
        else if (piece.link)
            part = text::linked(part, *piece.link, link);
        html += part;
    }
    return html;
}

QString verdictPlain(const std::vector<model::Sentence>& verdict)
{
    return text::utf8(model::plainText(model::piecesOf(verdict, text::wording)));
}

} // namespace strata::views
