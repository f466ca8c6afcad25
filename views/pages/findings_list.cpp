// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/findings_list.h"

#include "views/style/icons.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

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

        QString text = text::said(model::checkSentence(finding->check));
        if (nameDevice)
            text = tr("GPU %1: %2").arg(device->device).arg(text);
        const QString amount = amountText(*finding);
        grid->addWidget(textLabel(amount.isEmpty() ? text : tr("%1 (%2)").arg(text, amount)), line, 1);
        if (finding->event >= 0 && device->totals->events > 0) {
            QPushButton* link = linkButton(text::event(finding->event));
            connect(
                link, &QPushButton::clicked, this, [this, number = device->device, event = finding->event] {
                    Q_EMIT eventChosen(number, event);
                });
            grid->addWidget(link, line, 2, Qt::AlignTop | Qt::AlignRight);
        }
        grid->addWidget(textLabel(text::said(finding->cause), true), line + 1, 1, 1, 2);
        line += 2;
    }
    if (rows.size() > kShown)
        grid->addWidget(textLabel(tr("%1 more; strata check prints them all")
                                      .arg(text::count(static_cast<std::int64_t>(rows.size() - kShown))),
                            true),
            line, 1, 1, 2);
    if (rows.empty())
        grid->addWidget(
            textLabel(tr("The end state, the sums of every segment and every event agree."), true), 0, 1);
}

} // namespace strata::views
