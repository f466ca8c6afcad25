// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/device_list.h"

#include "views/style/texts.h"

#include <QKeyEvent>

#include <algorithm>

namespace strata::views {

namespace {

/// The bar: what it reserved at most, else what is known of that.
std::int64_t mostOf(const model::Totals& totals)
{
    return totals.reservedKnown ? totals.reservedBytesPeak : totals.requestedBytesPeak;
}

} // namespace

DeviceList::DeviceList(
    std::span<const DeviceBrief> devices, int shown, const Palette& palette, QWidget* parent)
    : BarList(parent)
{
    setAccessibleName(tr("Devices"));
    std::int64_t longest = 1;
    bool anyFailed = false;
    const auto failedOn = [](const DeviceBrief& device) {
        const auto& actions = device.totals->actions;
        const auto found = actions.find("oom");
        return found == actions.end() ? std::int64_t{ 0 } : found->second;
    };
    for (const DeviceBrief& device : devices) {
        longest = std::max(longest, mostOf(*device.totals));
        anyFailed = anyFailed || failedOn(device) > 0;
    }
    std::vector<Row> rows;
    for (const DeviceBrief& device : devices) {
        const model::Totals& totals = *device.totals;
        const std::int64_t failed = failedOn(device);
        Row& row = rows.emplace_back();
        row.label = tr("GPU %1").arg(device.device);
        row.toolTip
            = device.device == shown ? tr("This page shows it") : tr("Click to show it on every page");
        row.fraction = static_cast<double>(mostOf(totals)) / static_cast<double>(longest);
        row.colour = palette[Palette::Role::Requested];
        row.marked = device.device == shown;
        row.figures = { totals.reservedKnown ? tr("reserved %1").arg(text::bytes(totals.reservedBytesPeak))
                                             : tr("reserved –"),
            tr("requested %1").arg(text::bytes(totals.requestedBytesPeak)) };
        if (anyFailed)
            row.figures.append(
                failed == 0 ? QString() : tr("%n request(s) failed", nullptr, static_cast<int>(failed)));
        m_devices.push_back(device.device);
    }
    setRows(rows);
    connect(this, &QTableWidget::cellClicked, this, &DeviceList::choose);
}

void DeviceList::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)
        return choose(currentRow());
    BarList::keyPressEvent(event);
}

void DeviceList::choose(int row)
{
    if (row >= 0 && row < static_cast<int>(m_devices.size()))
        Q_EMIT deviceChosen(m_devices[static_cast<std::size_t>(row)]);
}

} // namespace strata::views
