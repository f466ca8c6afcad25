// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/pins_report.h"

#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/trace/producer.h"

#include <algorithm>

namespace strata::cli {

Table pinsTable(std::span<const model::Pin> pins, const model::GroupTable& byLine, std::size_t rows)
{
    Table table({ { "gives back" }, { "bytes" }, { "age in events" }, { "line", Table::Align::Left } });
    for (const model::Pin& pin : pins.first(std::min(rows, pins.size())))
        table.add({ pin.givesBackBytes > 0 ? model::formatBytes(pin.givesBackBytes) : "-",
            model::formatBytes(pin.bytes), pin.block.isOlder() ? "before" : model::formatCount(pin.ageEvents),
            printable(byLine.label(byLine.groupOf(pin.block)))
                + (pin.pending ? " (freed, waits for another stream)" : "") });
    return table;
}

Table settingsTable(
    std::span<const model::SettingTried> tried, const model::Recording& recording, bool saysServed)
{
    const std::string_view variable = model::settingsVariable(model::acceleratorOf(recording));
    saysServed = saysServed && !tried.empty() && tried.front().servesRequest;
    std::vector<Table::Column> columns{ { variable.empty() ? "settings" : std::string(variable),
                                            Table::Align::Left },
        { "reserved peak" }, { "saved" }, { "segments made" }, { "released" }, { "", Table::Align::Left } };
    if (saysServed)
        columns.insert(columns.begin() + 3, { "serves the request" });
    Table table(std::move(columns));
    for (const model::SettingTried& setting : tried) {
        std::vector<std::string> row{ setting.settings.empty() ? "(the defaults)"
                                                               : printable(setting.settings),
            model::formatBytes(setting.need.afterBytes), savedText(setting.need.savedBytes()),
            model::formatCount(setting.deviceMallocs), model::formatCount(setting.deviceFrees),
            setting.refusesMore ? "out of memory"
                : setting.exact ? "exact"
                                : "estimate" };
        if (saysServed)
            row.insert(row.begin() + 3, setting.servesRequest == true ? "yes" : "no");
        table.add(std::move(row));
    }
    return table;
}

} // namespace strata::cli
