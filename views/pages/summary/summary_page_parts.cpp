// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts of the page "Summary" say; summary_page.cpp puts them together.
#include "views/pages/summary/summary_page.h"

#include "model/base/wrap.h"
#include "views/models/document/replay_data.h"
#include "views/pages/parts/fold_section.h"
#include "views/pages/parts/summary_facts.h"
#include "views/pages/summary/device_list.h"
#include "views/pages/summary/findings_list.h"
#include "views/pages/summary/oom_panel.h"
#include "views/pages/summary/share_list.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

namespace {

constexpr int kPartLabelWidth = 144; // of the longest: "free in segments, end"
constexpr int kValueWidth = 72;
constexpr int kFactHeight = 20;

/// A sentence that begins with a word of the command line's.
QString upperFirst(const QString& text)
{
    return text.left(1).toUpper() + text.mid(1) + QLatin1Char('.');
}

/// Checks that can fail.
std::int64_t breachKinds()
{
    std::int64_t count = 0;
    for (std::size_t check = 0; check < model::kCheckCount; ++check)
        count += model::isBreach(static_cast<model::Check>(check)) ? 1 : 0;
    return count;
}

/// Label, value, exact figure in grey: three columns, figures right-aligned. Words take the room of both.
template <class OnEvent>
QGridLayout* factGrid(const std::vector<Fact>& facts, const QFont& font, const OnEvent& onEvent)
{
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(kMargin);
    grid->setVerticalSpacing(0);
    const double scale = scaleOf(font);
    grid->setColumnMinimumWidth(0, qRound(kPartLabelWidth * scale)); // one grid over all sections
    grid->setColumnMinimumWidth(1, qRound(kValueWidth * scale));
    grid->setColumnStretch(2, 1);
    const QFont numbers = numberFont(font);
    int line = 0;
    for (const Fact& fact : facts) {
        grid->setRowMinimumHeight(line, qRound(kFactHeight * scale));
        QLabel* label = textLabel(fact.label, true);
        label->setToolTip(aboutWord(fact.label));
        grid->addWidget(label, line, 0, fact.words ? Qt::AlignTop : Qt::AlignVCenter);
        label->setWordWrap(fact.words);
        if (fact.words) {
            QLabel* words = textLabel(fact.value);
            for (QLabel* part : { label, words }) // in line with the rows of one line
                part->setContentsMargins(
                    0, (qRound(kFactHeight * scale) - part->fontMetrics().height()) / 2, 0, 0);
            grid->addWidget(words, line++, 1, 1, 2, Qt::AlignTop);
            continue;
        }
        if (fact.event) {
            QPushButton* value = linkButton(fact.value);
            value->setFont(numbers);
            value->setToolTip(QObject::tr("Show this instant"));
            QObject::connect(
                value, &QPushButton::clicked, value, [onEvent, event = *fact.event] { onEvent(event); });
            grid->addWidget(value, line, 1, Qt::AlignRight);
        } else {
            QLabel* value = textLabel(fact.value);
            value->setFont(numbers);
            value->setWordWrap(false);
            value->setContentsMargins(0, 0, 5, 0); // in line with the text of links
            grid->addWidget(value, line, 1, Qt::AlignRight);
        }
        QLabel* exact = textLabel(fact.exact, true);
        exact->setFont(sized(numbers, kAxisPx));
        exact->setWordWrap(false);
        grid->addWidget(exact, line++, 2, Qt::AlignLeft | Qt::AlignVCenter);
    }
    return grid;
}

} // namespace

void SummaryPage::fillDevices(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<DeviceBrief> devices = m_document.devices();
    if (devices.size() < 2)
        return;
    part.addWidget(headingLabel(tr("The peak of each device")));
    auto* list = new DeviceList(devices, device.summary->device, m_palette);
    connect(
        list, &DeviceList::deviceChosen, this,
        [this](int chosen) { m_document.viewState().setDevice(chosen); }, Qt::QueuedConnection);
    part.addWidget(list);
}

void SummaryPage::fillOutOfMemory(QVBoxLayout& part, const SummaryData& device)
{
    const auto& all = device.summary->outOfMemory;
    if (all.empty())
        return;
    const model::OutOfMemory& oom = all.back();
    part.addWidget(headingLabel(all.size() == 1
            ? tr("The request that failed")
            : tr("The last of %n request(s) that failed", nullptr, static_cast<int>(all.size()))));
    const model::OomVerdict* const verdict
        = device.replay && device.replay->verdict && device.replay->verdict->event == oom.event
        ? device.replay->verdict.get()
        : nullptr;
    part.addWidget(new OomPanel(oom,
        verdict ? upperFirst(text::said(model::verdictSentence(*verdict))) : oomConclusion(oom), m_palette));
    if (verdict) {
        part.addSpacing(kGrid);
        part.addWidget(headingLabel(tr("Do this")));
        if (verdict->advice.empty())
            part.addWidget(textLabel(text::said(model::remedySentence(*verdict))));
        else
            part.addWidget(new AdviceList(*verdict, m_palette));
    }
    if (const model::FrameId asked = model::userFrame(*device.recording, oom.request); asked.valid()) {
        auto* who = new QHBoxLayout;
        who->setSpacing(0);
        QLabel* label = textLabel(tr("Asked for by") + QLatin1Char(' '), true);
        label->setWordWrap(false);
        who->addWidget(label);
        QPushButton* line = linkButton(text::utf8(model::frameShortLabel(*device.recording, asked)));
        line->setToolTip(text::utf8(model::frameLabel(*device.recording, asked)));
        connect(line, &QPushButton::clicked, this,
            [this, link = text::LineLink{ model::frameLabel(*device.recording, asked), oom.event }] {
                chooseLine(link);
            });
        who->addWidget(line);
        who->addStretch();
        part.addLayout(who);
    }
    if (oom.biggest.empty())
        return;
    part.addSpacing(kGrid);
    part.addWidget(headingLabel(tr("What filled the device when it failed")));
    addAmount(part, tr("The biggest lines, of %1 requested:").arg(text::bytes(oom.requestedLiveBytes)),
        text::event(oom.event), oom.event);
    part.addWidget(shareList(device, oom.biggest, oom.requestedLiveBytes, oom.biggest.size()));
}

/// How much, and the instant that it is of.
void SummaryPage::addAmount(
    QVBoxLayout& part, const QString& amount, const QString& instant, model::EventIndex event)
{
    auto* where = new QHBoxLayout;
    where->setSpacing(0);
    QLabel* sum = textLabel(amount, true);
    sum->setWordWrap(false);
    where->addWidget(sum);
    QPushButton* link = linkButton(instant);
    link->setToolTip(tr("Show this instant"));
    connect(link, &QPushButton::clicked, this, [this, event] { showInstant(event); });
    where->addWidget(link);
    where->addStretch();
    part.addLayout(where);
}

void SummaryPage::fillPeak(QVBoxLayout& part, const SummaryData& device)
{
    const model::LiveGroups& peak = device.summary->peak;
    if (peak.groups.empty())
        return;
    const bool events = device.summary->totals.events > 0;
    part.addWidget(headingLabel(events ? tr("What fills the peak") : tr("What fills the device")));
    const QString amount
        = tr("%1 requested in %2 blocks").arg(text::bytes(peak.requestedBytes), text::count(peak.blocks));
    if (events)
        addAmount(
            part, amount + QLatin1Char(','), text::instant(peak.event, device.timeOfPeakNs()), peak.event);
    else
        part.addWidget(textLabel(tr("%1, when the snapshot was taken").arg(amount), true));
    part.addWidget(shareList(device, peak.groups, peak.requestedBytes, kPeakRows));
    if (device.recording->stacks.stackCount() == 0)
        part.addWidget(textLabel(
            tr("No stacks were recorded, so no line of code can be named. Switch the recorder on with %1.")
                .arg(text::recordLine()),
            true));
    if (peak.beforeTraceBytes > 0 && events)
        part.addWidget(textLabel(
            tr("%1 of it are older than the recording.").arg(text::bytes(peak.beforeTraceBytes)), true));
}

QWidget* SummaryPage::shareList(const SummaryData& device, const std::vector<model::GroupSum>& groups,
    std::int64_t whole, std::size_t most)
{
    const model::Recording& recording = *device.recording;
    std::vector<ShareRow> rows;
    ShareRow others;
    const bool fold = groups.size() > most + 1;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const model::GroupSum& sum = groups[i];
        if (fold && i >= most) {
            others.bytes += sum.bytes;
            others.blocks += sum.blocks;
            continue;
        }
        const model::FrameId frame = model::userFrame(recording, device.byLine->stackOf(sum.group));
        const QString label = text::utf8(device.byLine->label(sum.group));
        QString shown = label, instead;
        if (frame.valid()) {
            shown = instead = text::utf8(model::frameShortLabel(recording, frame));
            if (const std::string function = model::frameFunction(recording, frame); !function.empty())
                shown = tr("%1  %2").arg(instead, text::utf8(function));
        }
        ShareRow& row = rows.emplace_back();
        row.label = shown;
        row.shortLabel = instead;
        row.toolTip = tr("%1\nClick: details. Double click: filter by it.").arg(label);
        row.bytes = sum.bytes;
        row.blocks = sum.blocks;
        row.colour = m_palette.groupFill(device.lineRank[sum.group]);
        row.key = device.byLine->label(sum.group);
        row.named = device.byLine->stackOf(sum.group).valid();
    }
    if (fold) {
        others.label = tr("%n other line(s)", nullptr, static_cast<int>(groups.size() - most));
        others.colour = m_palette[Palette::Role::Other];
        others.clickable = false;
        rows.push_back(others);
    }
    auto* list = new ShareList;
    list->setAccessibleName(tr("Lines of code by requested bytes"));
    list->setRows(rows, whole, m_palette);
    connect(list, &ShareList::rowChosen, this, [this](const ShareRow& row) { focusOn(row.key); });
    connect(
        list, &ShareList::rowFiltered, this, [this](const ShareRow& row) { filterBy(row.key, row.named); });
    return list;
}

void SummaryPage::fillIntegrity(QVBoxLayout& part, const SummaryData& device)
{
    const DeviceBrief brief{ device.summary->device, &device.summary->totals, device.findings };
    const Integrity integrity = integrityOf({ &brief, 1 });
    QString essence = integrity.text();
    if (device.findings.empty())
        essence = tr("%1, all %2 checks hold").arg(essence, text::count(breachKinds()));
    FoldSection* fold
        = addFold(part, QStringLiteral("integrity"), tr("Integrity"), essence, !device.findings.empty());
    auto* findings = new FindingsList({ &brief, 1 }, m_palette);
    connect(findings, &FindingsList::eventChosen, this,
        [this](int, model::EventIndex event) { showInstant(event); });
    fold->inside().addWidget(findings);
}

FoldSection* SummaryPage::addFold(
    QVBoxLayout& part, const QString& name, const QString& title, const QString& essence, bool wrong)
{
    auto* fold = new FoldSection(title, essence, m_palette);
    fold->setObjectName(name);
    fold->setProperty("wrong", wrong);
    fold->setOpen(wrong ? !m_folded.contains(name) : m_unfolded.contains(name));
    connect(fold, &FoldSection::foldedByUser, this, [this, name, wrong](bool open) {
        QStringList& kept = wrong ? m_folded : m_unfolded;
        kept.removeAll(name);
        if (open != wrong)
            kept.append(name);
        if (!wrong)
            Q_EMIT unfoldedChanged();
    });
    part.addWidget(fold);
    return fold;
}

void SummaryPage::setUnfolded(const QStringList& parts)
{
    m_unfolded = parts;
    for (FoldSection* fold : findChildren<FoldSection*>())
        if (!fold->property("wrong").toBool())
            fold->setOpen(parts.contains(fold->objectName()));
}

void SummaryPage::addFacts(QVBoxLayout& part, const std::vector<Fact>& facts)
{
    part.addLayout(factGrid(facts, font(), [this](model::EventIndex event) { showInstant(event); }));
}

void SummaryPage::fillWaste(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<Fact> waste = wasteFacts(device);
    if (waste.empty())
        return;
    part.addWidget(headingLabel(
        device.summary->totals.events > 0 ? tr("Not used at the peak") : tr("Not used by tensors")));
    if (const std::int64_t reserved = device.summary->peakUse.reservedBytes; reserved > 0)
        part.addWidget(textLabel(tr("Of %1 reserved").arg(text::bytes(reserved)), true));
    addFacts(part, waste);
}

void SummaryPage::fillNumbers(QVBoxLayout& part, const SummaryData& device)
{
    const model::DeviceSummary& summary = *device.summary;
    const QString events = text::counted(summary.totals.events, tr("1 event"), tr("%1 events"));
    const bool times = summary.firstTimeNs && summary.latestTimeNs;
    FoldSection* fold = addFold(part, QStringLiteral("numbers"), tr("Numbers"),
        times ? tr("%1 in %2")
                    .arg(events, text::duration(model::wrapSub(*summary.latestTimeNs, *summary.firstTimeNs)))
            : summary.totals.events > 0 || device.recording->refusal
            ? events
            : tr("%1 reserved, no events").arg(text::bytes(summary.totals.reservedBytesEnd)),
        false);
    addFacts(fold->inside(), numberFacts(device));
}

void SummaryPage::fillDriver(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<Fact> facts = driverFacts(device);
    if (facts.empty())
        return;
    part.addWidget(headingLabel(tr("Driver, at most")));
    addFacts(part, facts);
}

void SummaryPage::fillHostMemory(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<Fact> host = hostFacts(*device.recording);
    if (host.empty())
        return;
    part.addWidget(headingLabel(tr("Pinned host memory")));
    addFacts(part, host);
}

void SummaryPage::fillSimulation(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<Fact> simulation = simulationFacts(*device.recording);
    if (simulation.empty())
        return;
    part.addWidget(headingLabel(tr("Simulated device")));
    addFacts(part, simulation);
}

void SummaryPage::fillSettings(QVBoxLayout& part, const SummaryData& device)
{
    const std::vector<SettingFact> all = settingFacts(*device.recording);
    const auto unusual = std::ranges::count(all, false, &SettingFact::usual);
    FoldSection* fold = addFold(part, QStringLiteral("settings"), tr("Allocator settings"),
        all.empty() ? tr("not recorded")
            : unusual == 0
            ? tr("all at their defaults")
            : tr("%1 of %2 not at the default").arg(text::count(unusual), text::count(std::ssize(all))),
        unusual > 0);
    QVBoxLayout& inside = fold->inside();
    if (all.empty())
        inside.addWidget(textLabel(tr("None in this snapshot: PyTorch writes them since 2.3."), true));
    std::vector<Fact> shown, folded;
    for (const SettingFact& fact : all)
        (fact.usual && unusual > 0 ? folded : shown).push_back({ fact.key, fact.value, {}, {}, true });
    addFacts(inside, shown);
    if (folded.empty())
        return;
    auto* rest = new QWidget;
    auto* below = new QVBoxLayout(rest);
    below->setContentsMargins(0, 0, 0, 0);
    addFacts(*below, folded);
    QPushButton* more
        = linkButton(tr("Show %n more, all at their defaults", nullptr, static_cast<int>(folded.size())));
    more->setProperty("atEdge", true); // in line with what stands above it
    connect(more, &QPushButton::clicked, rest, [this, rest, more] {
        m_allSettings = true;
        rest->show();
        more->hide();
    });
    inside.addWidget(more);
    inside.addWidget(rest);
    (m_allSettings ? static_cast<QWidget*>(more) : rest)->hide();
}

} // namespace strata::views
