// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/work_tables_report.h"

#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace strata::cli {

std::string share(std::int64_t part, std::int64_t whole)
{
    return whole > 0 ? fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole))
                     : std::string("-");
}

/// Names of templates run to thousands of characters.
std::string shortName(std::string_view name)
{
    constexpr std::size_t kMost = 120;
    const std::string text = printable(name);
    return text.size() <= kMost ? text : text.substr(0, kMost - 3) + "...";
}

void writeTables(
    JsonWriter& json, const model::WorkTables& tables, const model::StringTable& strings, std::size_t most)
{
    const auto rows = [&](const char* key, const auto& all, const auto& write) {
        json.key(key).beginArray();
        for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
            json.beginObject().member("name", strings[all[i].name]).member("calls", all[i].calls);
            write(all[i]);
            json.endObject();
        }
        json.endArray();
    };
    rows("operators", tables.operators, [&](const model::OperatorSums& row) {
        json.member("self_ns", row.selfNs)
            .member("total_ns", row.totalNs)
            .member("gpu_self_ns", row.deviceSelfNs)
            .member("gpu_total_ns", row.deviceTotalNs);
    });
    rows("kernels", tables.kernels, [&](const model::KernelSums& row) {
        json.member("total_ns", row.totalNs).member("mean_ns", row.totalNs / row.calls);
    });
    rows("runtime_calls", tables.calls, [&](const model::KernelSums& row) {
        json.member("total_ns", row.totalNs).member("mean_ns", row.totalNs / row.calls);
    });
    rows("copies", tables.copies, [&](const model::CopySums& row) {
        json.member("bytes", row.bytes < 0 ? std::nullopt : std::optional(row.bytes))
            .member("total_ns", row.totalNs);
    });
}

void printTables(
    Output& out, const model::WorkTables& tables, const model::StringTable& strings, std::size_t most)
{
    const auto begin = [&](std::string_view title, const auto& rows) {
        if (!rows.empty())
            out.line(fmt::format("\n{}", title));
        return std::min(most, rows.size());
    };
    Table operators({ { "self" }, { "total" }, { "GPU self" }, { "GPU total" }, { "calls" },
        { "operator", Table::Align::Left } });
    const std::size_t shown = begin("operators, by their own time on the CPU", tables.operators);
    for (std::size_t i = 0; i < shown; ++i) {
        const model::OperatorSums& row = tables.operators[i];
        operators.add({ model::formatDuration(row.selfNs), model::formatDuration(row.totalNs),
            model::formatDuration(row.deviceSelfNs), model::formatDuration(row.deviceTotalNs),
            model::formatCount(row.calls), shortName(strings[row.name]) });
    }
    if (shown > 0)
        operators.print(out);
    const auto printSums = [&](std::string_view title, const std::string& what,
                               const std::vector<model::KernelSums>& rows) {
        Table table({ { "total" }, { "share" }, { "mean" }, { "calls" }, { what, Table::Align::Left } });
        std::int64_t allNs = 0;
        for (const model::KernelSums& row : rows)
            allNs += row.totalNs;
        const std::size_t printed = begin(title, rows);
        for (std::size_t i = 0; i < printed; ++i)
            table.add({ model::formatDuration(rows[i].totalNs), share(rows[i].totalNs, allNs),
                model::formatDuration(rows[i].totalNs / rows[i].calls), model::formatCount(rows[i].calls),
                shortName(strings[rows[i].name]) });
        if (printed > 0)
            table.print(out);
    };
    printSums("kernels, by their time", "kernel", tables.kernels);
    printSums("calls of the runtime and the driver, by their time", "call", tables.calls);
    Table copies({ { "total" }, { "bytes" }, { "calls" }, { "copy", Table::Align::Left } });
    const std::size_t copied = begin("copies and sets, by their time", tables.copies);
    for (std::size_t i = 0; i < copied; ++i) {
        const model::CopySums& row = tables.copies[i];
        copies.add({ model::formatDuration(row.totalNs),
            row.bytes < 0 ? std::string("?") : model::formatBytes(row.bytes), model::formatCount(row.calls),
            shortName(strings[row.name]) });
    }
    if (copied > 0)
        copies.print(out);
}

} // namespace strata::cli
