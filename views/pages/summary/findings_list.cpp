// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/findings_list.h"

#include "views/style/icons.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <tuple>

namespace strata::views {

namespace {

struct Checks {
    Q_DECLARE_TR_FUNCTIONS(Checks)
};

constexpr std::size_t kShown = 200;
constexpr std::size_t kAlike = 3; // so many of one check and device are one row

QGridLayout* rowGrid(QWidget* parent, int stretched)
{
    auto* grid = new QGridLayout(parent);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(kGrid);
    grid->setVerticalSpacing(kGrid / 2);
    grid->setColumnStretch(stretched, 1);
    return grid;
}

QLabel* rest(std::size_t count)
{
    return textLabel(Checks::tr("%1 more; strata check prints them all")
                         .arg(text::count(static_cast<std::int64_t>(count))),
        true);
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

FindingsList::FindingsList(std::span<const DeviceBrief> devices, const Palette& palette, QWidget* parent)
    : QWidget(parent)
{
    QGridLayout* grid = rowGrid(this, 1);
    std::vector<Row> rows;
    for (const DeviceBrief& device : devices)
        for (const model::Finding& finding : device.findings)
            rows.push_back({ device.device, device.totals->events > 0, &finding });
    const auto key = [](const Row& row) {
        const model::Finding& finding = *row.finding;
        return std::tuple(
            !model::isBreach(finding.check), row.device, finding.check, finding.event < 0, finding.event);
    };
    std::ranges::stable_sort(rows, [&key](const Row& a, const Row& b) { return key(a) < key(b); });

    std::span<const Row> left = rows;
    for (std::size_t shown = 0; !left.empty() && shown < kShown; ++shown) {
        const auto other = std::ranges::find_if(left, [&](const Row& row) {
            return row.device != left.front().device || row.finding->check != left.front().finding->check;
        });
        auto alike = static_cast<std::size_t>(other - left.begin());
        if (alike < kAlike)
            alike = 1;
        addRow(*grid, left.first(alike), devices.size() > 1, palette);
        left = left.subspan(alike);
    }
    if (!left.empty())
        grid->addWidget(rest(left.size()), grid->rowCount(), 1, 1, 2);
    if (rows.empty())
        grid->addWidget(
            textLabel(tr("The end state, the sums of every segment and every event agree."), true), 0, 1);
}

/// One, or several of one check and device, the first of them first.
void FindingsList::addRow(
    QGridLayout& grid, std::span<const Row> alike, bool nameDevice, const Palette& palette)
{
    const Row& first = alike.front();
    const int line = grid.rowCount();
    const bool breach = model::isBreach(first.finding->check);
    auto* mark = new QLabel;
    mark->setPixmap(iconPixmap(breach ? QStringLiteral("error") : QStringLiteral("info"),
        palette[breach ? Palette::Role::Bad : Palette::Role::TextMuted], 16, devicePixelRatioF()));
    mark->setAccessibleName(breach ? tr("Breach") : tr("Note"));
    grid.addWidget(mark, line, 0, Qt::AlignTop);

    QString text = text::said(model::checkSentence(first.finding->check));
    if (nameDevice)
        text = tr("GPU %1: %2").arg(first.device).arg(text);
    model::Finding sum = *first.finding;
    for (const Row& other : alike.subspan(1)) {
        sum.bytes += other.finding->bytes;
        sum.count += other.finding->count;
    }
    const QString amount = amountText(sum);
    grid.addWidget(textLabel(amount.isEmpty() ? text : tr("%1 (%2)").arg(text, amount)), line, 1);
    addLink(grid, line, 2, first, *first.finding);
    grid.addWidget(textLabel(text::said(first.finding->cause), true), line + 1, 1, 1, 2);
    if (alike.size() == 1)
        return;
    QPushButton* more
        = linkButton(tr("List all %1").arg(text::count(static_cast<std::int64_t>(alike.size()))));
    more->setProperty("atEdge", true);
    grid.addWidget(more, line + 2, 1, 1, 2, Qt::AlignLeft);
    auto* room = new QVBoxLayout;
    grid.addLayout(room, line + 3, 1, 1, 2);
    std::vector<model::Finding> all; // nobody keeps the document's own until the click
    for (const Row& row : alike)
        all.push_back(*row.finding);
    connect(more, &QPushButton::clicked, this, [this, room, more, of = first, all = std::move(all)] {
        more->hide();
        QWidget* const list = listOf(of, all);
        room->addWidget(list);
        list->show();
    });
}

QWidget* FindingsList::listOf(const Row& of, std::span<const model::Finding> alike)
{
    auto* list = new QWidget(this);
    QGridLayout* grid = rowGrid(list, 0);
    int line = 0;
    for (const model::Finding& finding : alike.first(std::min(alike.size(), kShown))) {
        const QString amount = amountText(finding), cause = text::said(finding.cause);
        grid->addWidget(textLabel(amount.isEmpty() ? cause : tr("%1: %2").arg(amount, cause), true), line, 0);
        addLink(*grid, line++, 1, of, finding);
    }
    if (alike.size() > kShown)
        grid->addWidget(rest(alike.size() - kShown), line, 0);
    return list;
}

void FindingsList::addLink(
    QGridLayout& grid, int line, int column, const Row& of, const model::Finding& finding)
{
    if (finding.event < 0 || !of.hasEvents)
        return;
    QPushButton* link = linkButton(text::event(finding.event));
    connect(link, &QPushButton::clicked, this,
        [this, device = of.device, event = finding.event] { Q_EMIT eventChosen(device, event); });
    grid.addWidget(link, line, column, Qt::AlignTop | Qt::AlignRight);
}

} // namespace strata::views
