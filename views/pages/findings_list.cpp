// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/findings_list.h"

#include "views/pages/icons.h"
#include "views/pages/texts.h"
#include "views/pages/type.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace strata::views {

namespace {

struct Checks {
    Q_DECLARE_TR_FUNCTIONS(Checks)
};

constexpr std::size_t kShown = 200;

QLabel* wrapped(const QString& text, bool muted)
{
    auto* label = new QLabel(text);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setProperty("muted", muted);
    return label;
}

QString amountText(const model::Finding& finding)
{
    QStringList parts;
    if (finding.count > 1)
        parts.append(Checks::tr("%1 times").arg(text::count(finding.count)));
    if (finding.bytes > 0)
        parts.append(text::bytes(finding.bytes));
    return parts.join(QStringLiteral(", "));
}

} // namespace

QString Integrity::text() const
{
    const QString noted = notes == 0 ? QString() : Checks::tr("%n note(s)", nullptr, notes);
    if (exact())
        return notes == 0 ? Checks::tr("totals exact") : Checks::tr("totals exact, %1").arg(noted);
    const QString breached = Checks::tr("%n breach(es)", nullptr, breaches);
    return notes == 0 ? breached : QStringLiteral("%1, %2").arg(breached, noted);
}

Integrity integrityOf(std::span<const DeviceBrief> devices)
{
    Integrity integrity;
    for (const DeviceBrief& device : devices)
        for (const model::Finding& finding : device.findings)
            ++(model::isBreach(finding.check) ? integrity.breaches : integrity.notes);
    return integrity;
}

QString checkText(model::Check check)
{
    switch (check) {
    case model::Check::LiveNotInSegments:
        return Checks::tr("Blocks that the trace leaves live are missing from the segments");
    case model::Check::EndStateDiffers:
        return Checks::tr("Blocks of the segments differ from what the trace says");
    case model::Check::AllocOverLive:
        return Checks::tr("Allocations at the address of a live block");
    case model::Check::AllocOverlaps:
        return Checks::tr("Allocations over a part of a live block");
    case model::Check::FreeOfFreed:
        return Checks::tr("Frees of blocks that are already freed");
    case model::Check::FreeLarger:
        return Checks::tr("Frees larger than their block");
    case model::Check::SegmentSums:
        return Checks::tr("Sums of a segment disagree with its blocks");
    case model::Check::SegmentsOverlap:
        return Checks::tr("Segments share addresses");
    case model::Check::RequestedAboveReserved:
        return Checks::tr("More is requested than reserved");
    case model::Check::AllocatedAboveReserved:
        return Checks::tr("More is allocated than reserved");
    case model::Check::ActiveAboveReserved:
        return Checks::tr("More is active than reserved");
    case model::Check::EventsRefused:
        return Checks::tr("The allocator of the process tells of no event");
    case model::Check::EventsLost:
        return Checks::tr("The recorder could not keep some events");
    case model::Check::Truncated:
        return Checks::tr("The file ends early");
    case model::Check::RecordingBeganLate:
        return Checks::tr("Recording began after memory was in use");
    case model::Check::RingWrapped:
        return Checks::tr("The recorder's ring was full: older events are gone");
    case model::Check::TimeBackwards:
        return Checks::tr("Time goes backwards");
    case model::Check::PendingFrees:
        return Checks::tr("Freed blocks still wait for another stream at the end");
    case model::Check::Cut:
        return Checks::tr("A part of a longer recording");
    case model::Check::NoEvents:
        return Checks::tr("No events were recorded");
    case model::Check::UnknownContent:
        return Checks::tr("Keys or actions that Strata does not know");
    }
    return text::file(model::checkName(check));
}

FindingsList::FindingsList(std::span<const DeviceBrief> devices, const Palette& palette, QWidget* parent)
    : QWidget(parent)
{
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(kGrid);
    grid->setVerticalSpacing(kGrid / 2);
    grid->setColumnStretch(1, 1);

    struct Row {
        const DeviceBrief* device;
        const model::Finding* finding;
    };
    std::vector<Row> rows;
    for (const DeviceBrief& device : devices)
        for (const model::Finding& finding : device.findings)
            rows.push_back({ &device, &finding });
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return model::isBreach(a.finding->check) > model::isBreach(b.finding->check);
    });

    const bool nameDevice = devices.size() > 1;
    int line = 0;
    for (const auto& [device, finding] : rows) {
        if (static_cast<std::size_t>(line) >= 2 * kShown)
            break;
        const bool breach = model::isBreach(finding->check);
        auto* mark = new QLabel;
        mark->setPixmap(iconPixmap(breach ? QStringLiteral("error") : QStringLiteral("info"),
            palette[breach ? Palette::Role::Bad : Palette::Role::TextMuted], 16, devicePixelRatioF()));
        mark->setAccessibleName(breach ? tr("Breach") : tr("Note"));
        grid->addWidget(mark, line, 0, Qt::AlignTop);

        QString text = checkText(finding->check);
        if (nameDevice)
            text = tr("GPU %1: %2").arg(device->device).arg(text);
        const QString amount = amountText(*finding);
        grid->addWidget(wrapped(amount.isEmpty() ? text : tr("%1 (%2)").arg(text, amount), false), line, 1);
        if (finding->event >= 0 && device->totals->events > 0) {
            auto* link = new QPushButton(tr("event %1").arg(text::count(finding->event)));
            link->setProperty("link", true);
            link->setCursor(Qt::PointingHandCursor);
            connect(
                link, &QPushButton::clicked, this, [this, number = device->device, event = finding->event] {
                    Q_EMIT eventChosen(number, event);
                });
            grid->addWidget(link, line, 2, Qt::AlignTop | Qt::AlignRight);
        }
        grid->addWidget(wrapped(text::file(finding->cause), true), line + 1, 1, 1, 2);
        line += 2;
    }
    if (rows.size() > kShown)
        grid->addWidget(wrapped(tr("%1 more; strata check prints them all")
                                    .arg(text::count(static_cast<std::int64_t>(rows.size() - kShown))),
                            true),
            line, 1, 1, 2);
    if (rows.empty())
        grid->addWidget(
            wrapped(tr("The end state, the sums of every segment and every event agree."), true), 0, 1);
}

} // namespace strata::views
