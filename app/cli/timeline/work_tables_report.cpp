// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/timeline/work_tables_report.h"

#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/analysis/work/costs/operator_inputs.h"
#include "model/base/units.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>
#include <vector>

namespace strata::cli {

std::string share(std::int64_t part, std::int64_t whole)
{
    return whole > 0 ? model::formatShare(part, whole) : std::string("-");
}

/// Names of templates run to thousands of characters.
std::string shortName(std::string_view name)
{
    constexpr std::size_t kMost = 120, kLongestNote = 48;
    const std::string text = printable(name);
    if (text.size() <= kMost)
        return text;
    const std::size_t note = text.ends_with(']') ? text.rfind(" [") : text.npos;
    const std::string kept
        = note != text.npos && text.size() - note <= kLongestNote ? text.substr(note) : std::string();
    return text.substr(0, kMost - 3 - kept.size()) + "..." + kept;
}

namespace {

constexpr std::size_t kLongestOperatorShapes = 80;

std::string threeText(const std::array<std::int32_t, 3>& three)
{
    return fmt::format("{}x{}x{}", three[0], three[1], three[2]);
}

std::string nameAndShapes(const model::OperatorSums& row, const model::StringTable& strings)
{
    std::string name = shortName(strings[row.name]);
    if (!row.shapes.valid())
        return name;
    const std::string shapes = printable(model::shapesText(strings[row.shapes]));
    if (shapes.empty())
        return name;
    return name + ' '
        + (shapes.size() <= kLongestOperatorShapes ? shapes
                                                   : shapes.substr(0, kLongestOperatorShapes - 3) + "...");
}

/// The sections of one report.
class Sections {
public:
    Sections(Output& out, const model::StringTable& strings, std::size_t most)
        : m_out(out)
        , m_strings(strings)
        , m_most(most)
    {
    }
    /// `cells` of a row, before those of calls and name, which are the last.
    template <class Row, class Cells>
    void print(std::string_view title, std::vector<Table::Column> columns, std::string last,
        const std::vector<Row>& rows, const Cells& cells, const auto& nameOf)
    {
        if (rows.empty())
            return;
        m_out.line(fmt::format("\n{}", title));
        columns.push_back({ "calls" });
        columns.push_back({ std::move(last), Table::Align::Left });
        Table table(std::move(columns));
        for (std::size_t i = 0; i < std::min(m_most, rows.size()); ++i) {
            std::vector<std::string> texts = cells(rows[i]);
            texts.push_back(model::formatCount(rows[i].calls));
            texts.push_back(nameOf(rows[i]));
            table.add(std::move(texts));
        }
        table.print(m_out);
    }
    template <class Row, class Cells>
    void print(std::string_view title, std::vector<Table::Column> columns, std::string last,
        const std::vector<Row>& rows, const Cells& cells)
    {
        print(title, std::move(columns), std::move(last), rows, cells,
            [&](const Row& row) { return shortName(m_strings[row.name]); });
    }

private:
    Output& m_out;
    const model::StringTable& m_strings;
    std::size_t m_most;
};

void printOperators(Sections& sections, std::string_view title, std::string last,
    const std::vector<model::OperatorSums>& rows, const model::StringTable& strings)
{
    const bool haveMemory = std::ranges::any_of(rows, [](const auto& row) { return row.memory.has_value(); });
    std::vector<Table::Column> columns{ { "self" }, { "total" }, { "GPU self" }, { "GPU total" } };
    if (haveMemory)
        columns.insert(columns.end(), { { "bytes self" }, { "bytes total" }, { "bytes peak" } });
    sections.print(
        title, std::move(columns), std::move(last), rows,
        [&](const model::OperatorSums& row) {
            std::vector<std::string> cells{ model::formatDuration(row.selfNs),
                model::formatDuration(row.totalNs), model::formatDuration(row.deviceSelfNs),
                model::formatDuration(row.deviceTotalNs) };
            if (row.memory)
                for (const std::int64_t bytes :
                    { row.memory->selfBytes, row.memory->totalBytes, row.memory->peakBytes })
                    cells.push_back(model::formatBytes(bytes));
            return cells;
        },
        [&](const model::OperatorSums& row) { return nameAndShapes(row, strings); });
}

void printKernels(Sections& sections, const std::vector<model::KernelSums>& rows)
{
    const bool areLaunched
        = std::ranges::any_of(rows, [](const auto& row) { return row.launch.has_value(); });
    std::int64_t allNs = 0;
    for (const model::KernelSums& row : rows)
        allNs += row.totalNs;
    std::vector<Table::Column> columns{ { "total" }, { "share" }, { "mean" } };
    if (areLaunched)
        columns.insert(columns.end(), { { "occupancy" }, { "grid" }, { "block" } });
    sections.print(
        "kernels, by their time", std::move(columns), "kernel", rows, [&](const model::KernelSums& row) {
            std::vector<std::string> cells{ model::formatDuration(row.totalNs), share(row.totalNs, allNs),
                model::formatDuration(row.meanNs()) };
            if (areLaunched) {
                cells.push_back(
                    row.occupancyPercent ? fmt::format("{:.0f} %", *row.occupancyPercent) : std::string("?"));
                cells.push_back(row.launch ? threeText(row.launch->grid) : std::string("?"));
                cells.push_back(row.launch ? threeText(row.launch->block) : std::string("?"));
            }
            return cells;
        });
}

void printCalls(Sections& sections, std::string_view title, const std::vector<model::CallSums>& rows)
{
    std::int64_t allNs = 0;
    for (const model::CallSums& row : rows)
        allNs += row.totalNs;
    sections.print(
        title, { { "total" }, { "share" }, { "mean" } }, "call", rows, [&](const model::CallSums& row) {
            return std::vector{ model::formatDuration(row.totalNs), share(row.totalNs, allNs),
                model::formatDuration(row.meanNs()) };
        });
}

std::string bytesText(std::int64_t bytes)
{
    return bytes < 0 ? std::string("?") : model::formatBytes(bytes);
}

std::string rateText(const std::optional<double>& rate)
{
    return rate ? fmt::format("{:.2f} GB/s", *rate / 1e9) : std::string("?");
}

void printCopies(Sections& sections, const std::vector<model::CopySums>& rows)
{
    sections.print("copies and sets, by their time",
        { { "total" }, { "bytes" }, { "bandwidth" }, { "under kernels" }, { "host memory" } }, "copy", rows,
        [](const model::CopySums& row) {
            return std::vector{ model::formatDuration(row.totalNs), bytesText(row.bytes),
                rateText(row.bytesPerSecond()), share(row.underComputationNs, row.totalNs),
                std::string(model::hostPagesWord(row.host)) };
        });
}

} // namespace

void printTables(
    Output& out, const model::WorkTables& tables, const model::StringTable& strings, std::size_t most)
{
    Sections sections(out, strings, most);
    printOperators(
        sections, "operators, by their own time on the CPU", "operator", tables.operators, strings);
    printOperators(sections, "what the program names, by its own time on the CPU", "annotation",
        tables.annotations, strings);
    printKernels(sections, tables.kernels);
    printCalls(sections, "calls of the runtime and the driver, by their time", tables.calls);
    printCopies(sections, tables.copies);
    printCalls(sections, "calls that wait for the GPU, by their time", tables.synchronisations);
    sections.print("communication, by its time",
        { { "total" }, { "mean" }, { "bytes" }, { "bandwidth" }, { "under kernels" }, { "alone" } },
        "collective", tables.collectives, [](const model::CollectiveSums& row) {
            return std::vector{ model::formatDuration(row.totalNs), model::formatDuration(row.meanNs()),
                bytesText(row.bytes), rateText(row.bytesPerSecond()),
                share(row.underComputationNs, row.totalNs), model::formatDuration(row.exposedNs()) };
        });
    sections.print("waiting for the DataLoader", { { "total" }, { "mean" }, { "of steps" } }, "wait",
        tables.loading, [](const model::LoadingSums& row) {
            return std::vector{ model::formatDuration(row.totalNs), model::formatDuration(row.meanNs()),
                row.shareOfSteps ? fmt::format("{:.1f} %", 100.0 * *row.shareOfSteps) : std::string("?") };
        });
}

} // namespace strata::cli
