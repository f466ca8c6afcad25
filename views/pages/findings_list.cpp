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
#include <tuple>

namespace strata::views {

namespace {

struct Checks {
    Q_DECLARE_TR_FUNCTIONS(Checks)
};

constexpr std::size_t kShown = 200;
constexpr std::size_t kAlike = 3; // so many of one check and device are one row

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
        const auto key = [](const Row& row) {
            return std::tuple(!model::isBreach(row.finding->check), row.device, row.finding->check);
        };
        return key(a) < key(b);
    });

    const bool nameDevice = devices.size() > 1;
    int line = 0;
    std::size_t shown = 0, listed = 0;
    for (std::size_t first = 0; first < rows.size() && shown < kShown;) {
        std::size_t end = first + 1;
        while (end < rows.size() && rows[end].device == rows[first].device
            && rows[end].finding->check == rows[first].finding->check)
            ++end;
        if (end - first < kAlike)
            end = first + 1;
        const auto& [device, finding] = rows[first];
        const std::span<const Row> alike(rows.data() + first, end - first);
        const bool breach = model::isBreach(finding->check);
        auto* mark = new QLabel;
        mark->setPixmap(iconPixmap(breach ? QStringLiteral("error") : QStringLiteral("info"),
            palette[breach ? Palette::Role::Bad : Palette::Role::TextMuted], 16, devicePixelRatioF()));
        mark->setAccessibleName(breach ? tr("Breach") : tr("Note"));
        grid->addWidget(mark, line, 0, Qt::AlignTop);

        QString text = text::said(model::checkSentence(finding->check));
        if (nameDevice)
            text = tr("GPU %1: %2").arg(device->device).arg(text);
        model::Finding sum = *finding;
        for (const Row& other : alike.subspan(1)) {
            sum.bytes += other.finding->bytes;
            sum.count += other.finding->count;
            if (sum.event < 0 || (other.finding->event >= 0 && other.finding->event < sum.event))
                sum.event = other.finding->event;
        }
        const QString amount = amountText(sum);
        grid->addWidget(textLabel(amount.isEmpty() ? text : tr("%1 (%2)").arg(text, amount)), line, 1);
        addLink(*grid, line, 2, *device, sum.event);
        grid->addWidget(textLabel(text::said(finding->cause), true), line + 1, 1, 1, 2);
        line += 2;
        if (alike.size() > 1) {
            QPushButton* more
                = linkButton(tr("List all %1").arg(text::count(static_cast<std::int64_t>(alike.size()))));
            more->setProperty("atEdge", true);
            grid->addWidget(more, line++, 1, 1, 2, Qt::AlignLeft);
            auto* all = new QWidget;
            auto* inside = new QGridLayout(all);
            inside->setContentsMargins(0, 0, 0, 0);
            inside->setHorizontalSpacing(kGrid);
            inside->setVerticalSpacing(kGrid / 2);
            inside->setColumnStretch(0, 1);
            int row = 0;
            for (const Row& one : alike.first(std::min(alike.size(), kShown))) {
                const QString each = amountText(*one.finding);
                inside->addWidget(
                    textLabel(each.isEmpty() ? text::said(one.finding->cause)
                                             : tr("%1: %2").arg(each, text::said(one.finding->cause)),
                        true),
                    row, 0);
                addLink(*inside, row++, 1, *device, one.finding->event);
            }
            all->hide();
            grid->addWidget(all, line++, 1, 1, 2);
            connect(more, &QPushButton::clicked, all, [all, more] {
                all->show();
                more->hide();
            });
        }
        ++shown;
        listed += alike.size();
        first = end;
    }
    if (rows.size() > listed)
        grid->addWidget(textLabel(tr("%1 more; strata check prints them all")
                                      .arg(text::count(static_cast<std::int64_t>(rows.size() - listed))),
                            true),
            line, 1, 1, 2);
    if (rows.empty())
        grid->addWidget(
            textLabel(tr("The end state, the sums of every segment and every event agree."), true), 0, 1);
}

void FindingsList::addLink(
    QGridLayout& grid, int line, int column, const DeviceBrief& device, model::EventIndex event)
{
    if (event < 0 || device.totals->events == 0)
        return;
    QPushButton* link = linkButton(text::event(event));
    connect(link, &QPushButton::clicked, this,
        [this, number = device.device, event] { Q_EMIT eventChosen(number, event); });
    grid.addWidget(link, line, column, Qt::AlignTop | Qt::AlignRight);
}

} // namespace strata::views
