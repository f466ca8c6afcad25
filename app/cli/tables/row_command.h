// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/file_command.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/tables/row_labels.h"
#include "app/cli/tables/row_table.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::cli {

/// A command that prints rows of one device, of which there may be millions: chosen by --from, --to and
/// --filter, in the order of --sort, as a table for people and as JSON lines for programs. What a row is, a
/// derived class says.
class RowCommand : public FileCommand {
public:
    void declare(CLI::App& app) final;
    [[nodiscard]] model::Result<void> checkOptions() final;
    [[nodiscard]] model::Result<int> runOn(const std::string& file, Output& out, Output& err) final;

    /// What stands between rows: told of each before it comes, and of none after the last of all.
    class Between {
    public:
        virtual ~Between() = default;
        virtual void print(RowTable& table, std::optional<std::uint32_t> next) = 0;
        virtual void write(JsonWriter& json, std::optional<std::uint32_t> next) = 0;
    };

protected:
    /// What the options' help says.
    struct Words {
        const char* from;
        const char* to;
        std::span<const model::ColumnNames> orders; ///< that --sort takes; the first where nobody asks
        const char* sort; ///< said behind them
    };
    /// `name` is the command's, and what its rows are called.
    RowCommand(std::string name, std::string purpose, const Words& words);

    /// Takes in --sort.
    [[nodiscard]] virtual model::Result<void> setOrder(std::string_view name) = 0;
    /// The range that rows lie in, of the one that was asked for.
    [[nodiscard]] virtual EventRange within(EventRange range) const { return range; }
    /// The rows of the range that all filters keep, in order.
    [[nodiscard]] virtual std::vector<std::uint32_t> rowsOf(const model::DeviceTrace& trace, EventRange range,
        const std::vector<model::BlockFilter>& filters) const = 0;
    virtual void writeRow(JsonWriter& json, const RowLabels& labels, std::uint32_t row) const = 0;
    /// Those of the table; the last takes the width that is left.
    [[nodiscard]] virtual std::vector<RowTable::Column> columns() const = 0;
    virtual void printRow(RowTable& table, const RowLabels& labels, std::uint32_t row) const = 0;

    /// Called once for the device, before its rows are asked for: `json`, how they will be printed.
    [[nodiscard]] virtual model::Result<void> prepare(
        const model::DeviceTrace& /*trace*/, bool /*json*/, Output& /*err*/)
    {
        return {};
    }
    /// Options of its own, and whether they are right.
    virtual void declareMore(CLI::App& /*app*/) { }
    [[nodiscard]] virtual model::Result<void> checkMore() { return {}; }
    [[nodiscard]] virtual std::unique_ptr<Between> between(
        const model::DeviceTrace& /*trace*/, EventRange /*range*/, bool /*json*/) const
    {
        return nullptr;
    }
    [[nodiscard]] bool withFrames() const { return m_frames; }
    [[nodiscard]] bool isFiltered() const { return m_filter.given(); }
    [[nodiscard]] bool asksForLabels() const { return m_filter.asksForLabels(); }

private:
    void writeRows(Output& out, const std::string& file, const model::DeviceTrace& trace, EventRange range,
        std::span<const std::uint32_t> rows, bool areAll) const;
    void printTable(Output& out, const model::DeviceTrace& trace, EventRange range,
        std::span<const std::uint32_t> rows, bool areAll) const;

    Words m_words;
    ReadOptions m_read;
    RangeOptions m_range;
    bool m_frames = false;
    LimitOption m_limit;
    FilterOption m_filter;
    std::string m_sort;
};

/// What looks at a row for each of the filters.
template <class Matcher>
[[nodiscard]] std::vector<Matcher> matchersOf(const model::DeviceTrace& trace,
    const std::vector<model::BlockFilter>& filters, const model::DeviceLabels& labels)
{
    std::vector<Matcher> matchers;
    matchers.reserve(filters.size());
    for (const model::BlockFilter& filter : filters)
        matchers.emplace_back(trace, filter, labels);
    return matchers;
}

template <class Matcher, class Subject>
[[nodiscard]] bool matchesAll(const std::vector<Matcher>& matchers, Subject subject)
{
    return std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& one) { return one(subject); });
}

/// A column of the table by its order of --sort.
template <class Order> [[nodiscard]] RowTable::Column tableColumn(Order order, std::size_t width = 0)
{
    const model::ColumnNames& names = model::namesOf(order);
    return { names.inTerminal(), width, names.text };
}

} // namespace strata::cli
