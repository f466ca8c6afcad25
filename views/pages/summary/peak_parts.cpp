// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/peak_parts.h"

#include "views/models/document/document.h"
#include "views/models/document/replay_data.h"
#include "views/pages/summary/device_list.h"
#include "views/pages/summary/oom_panel.h"
#include "views/pages/summary/share_list.h"
#include "views/pages/summary/summary_jumps.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace strata::views {

namespace {

/// A sentence that begins with a word of the command line's.
QString upperFirst(const QString& text)
{
    return text.left(1).toUpper() + text.mid(1) + QLatin1Char('.');
}

} // namespace

PeakParts::PeakParts(Document& document, SummaryJumps& jumps)
    : m_document(document)
    , m_jumps(jumps)
{
}

void PeakParts::fillDevices(QVBoxLayout& part, const SummaryData& device, const Palette& palette)
{
    const std::vector<DeviceBrief> devices = m_document.devices();
    if (devices.size() < 2)
        return;
    part.addWidget(headingLabel(tr("The peak of each device")));
    auto* list = new DeviceList(devices, device.summary->device, palette);
    QObject::connect(
        list, &DeviceList::deviceChosen, &m_document,
        [&document = m_document](int chosen) { document.viewState().setDevice(chosen); },
        Qt::QueuedConnection);
    part.addWidget(list);
}

void PeakParts::fillOutOfMemory(QVBoxLayout& part, const SummaryData& device, const Palette& palette)
{
    const auto& all = device.summary->outOfMemory;
    if (all.empty())
        return;
    const model::OutOfMemory& oom = all.back();
    part.addWidget(headingLabel(all.size() == 1
            ? tr("The request that failed")
            : tr("The last of %n request(s) that failed", nullptr, static_cast<int>(all.size()))));
    const model::OomExplained* const explained
        = device.replay && device.replay->explained && device.replay->explained->verdict.event == oom.event
        ? device.replay->explained.get()
        : nullptr;
    const model::OomVerdict* const verdict = explained != nullptr ? &explained->verdict : nullptr;
    part.addWidget(new OomPanel(oom,
        verdict ? upperFirst(text::said(model::verdictSentence(*verdict))) : oomConclusion(oom), palette));
    if (verdict) {
        part.addSpacing(kGrid);
        part.addWidget(headingLabel(tr("Do this")));
        if (verdict->advice.empty())
            part.addWidget(textLabel(text::said(model::remedySentence(*verdict))));
        else
            part.addWidget(new AdviceList(*verdict, palette));
        if (const auto shown = m_document.device();
            shown && shown->trace && shown->trace->device() == device.summary->device) {
            std::vector<model::NextStep> next = model::nextSteps(
                *shown->trace, *verdict, explained->evidence, m_document.path().toStdString());
            std::erase_if(next, [](const model::NextStep& step) { return step.isSetting; });
            part.addSpacing(kGrid);
            part.addWidget(new NextStepList(next, palette));
        }
    }
    if (const model::FrameId asked = model::userFrame(*device.recording, oom.request); asked.valid()) {
        auto* who = new QHBoxLayout;
        who->setSpacing(0);
        QLabel* label = textLabel(tr("Asked for by") + QLatin1Char(' '), true);
        label->setWordWrap(false);
        who->addWidget(label);
        QPushButton* line = linkButton(text::utf8(model::frameShortLabel(*device.recording, asked)));
        line->setToolTip(text::utf8(model::frameLabel(*device.recording, asked)));
        QObject::connect(line, &QPushButton::clicked, &m_jumps,
            [&jumps = m_jumps,
                link = text::LineLink{ model::frameLabel(*device.recording, asked), oom.event }] {
                jumps.line(link);
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
    part.addWidget(shareList(device, palette, oom.biggest, oom.requestedLiveBytes, oom.biggest.size()));
}

/// How much, and the instant that it is of.
void PeakParts::addAmount(
    QVBoxLayout& part, const QString& amount, const QString& instant, model::EventIndex event)
{
    auto* where = new QHBoxLayout;
    where->setSpacing(0);
    QLabel* sum = textLabel(amount, true);
    sum->setWordWrap(false);
    where->addWidget(sum);
    QPushButton* link = linkButton(instant);
    link->setToolTip(tr("Show this instant"));
    QObject::connect(
        link, &QPushButton::clicked, &m_jumps, [&jumps = m_jumps, event] { jumps.instant(event); });
    where->addWidget(link);
    where->addStretch();
    part.addLayout(where);
}

void PeakParts::fillPeak(QVBoxLayout& part, const SummaryData& device, const Palette& palette)
{
    const model::LiveGroups& peak = device.summary->peak;
    if (peak.groups.empty())
        return;
    const bool events = device.summary->totals.events > 0;
    part.addWidget(headingLabel(events ? tr("What fills the peak") : tr("What fills the device")));
    const QString amount
        = tr("%1 requested in %2")
              .arg(text::bytes(peak.requestedBytes),
                  text::counted(peak.blocks, tr("1 block"), tr("%1 blocks")));
    if (events)
        addAmount(
            part, amount + QLatin1Char(','), text::instant(peak.event, device.timeOfPeakNs()), peak.event);
    else
        part.addWidget(textLabel(tr("%1, when the snapshot was taken").arg(amount), true));
    part.addWidget(shareList(device, palette, peak.groups, peak.requestedBytes, kPeakRows));
    if (device.recording->stacks.stackCount() == 0)
        part.addWidget(textLabel(
            tr("No stacks were recorded, so no line of code can be named. Switch the recorder on with %1.")
                .arg(text::recordLine()),
            true));
    if (peak.beforeTraceBytes > 0 && events)
        part.addWidget(textLabel(
            tr("%1 of it are older than the recording.").arg(text::bytes(peak.beforeTraceBytes)), true));
}

QWidget* PeakParts::shareList(const SummaryData& device, const Palette& palette,
    const std::vector<model::GroupSum>& groups, std::int64_t whole, std::size_t most)
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
        row.colour = palette.groupFill(device.lineRank[sum.group]);
        row.key = device.byLine->label(sum.group);
        row.named = device.byLine->stackOf(sum.group).valid();
    }
    if (fold) {
        others.label = tr("%n other line(s)", nullptr, static_cast<int>(groups.size() - most));
        others.colour = palette[Palette::Role::Other];
        others.clickable = false;
        rows.push_back(others);
    }
    auto* list = new ShareList;
    list->setAccessibleName(tr("Lines of code by requested bytes"));
    list->setRows(rows, whole, palette);
    QObject::connect(list, &ShareList::rowChosen, &m_jumps,
        [&jumps = m_jumps](const ShareRow& row) { jumps.details(row.key); });
    QObject::connect(list, &ShareList::rowFiltered, &m_jumps,
        [&jumps = m_jumps](const ShareRow& row) { jumps.filter(row.key, row.named); });
    return list;
}

} // namespace strata::views
