// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/tables/row_command.h"

#include "app/cli/answer_json.h"
#include "model/tables/rows_header.h"

#include <CLI/CLI.hpp>
#include <iterator>

namespace strata::cli {

namespace {

/// "block (default), requested, lifetime (in events) or segment".
std::string listOf(std::span<const model::ColumnNames> orders)
{
    std::string list;
    for (const model::ColumnNames& names : orders) {
        const bool first = &names == &orders.front();
        list += first ? "" : &names == &orders.back() ? " or " : ", ";
        list += names.sort;
        if (const std::string_view note = first ? "default" : names.sortNote; !note.empty())
            list.append(" (").append(note).append(")");
    }
    return list;
}

} // namespace

RowCommand::RowCommand(std::string name, std::string purpose, const Words& words)
    : FileCommand(std::move(name), std::move(purpose))
    , m_words(words)
    , m_sort(words.orders.front().sort)
{
}

void RowCommand::declare(CLI::App& app)
{
    declareFile(app);
    m_read.declare(app, ReadOptions::Devices::One);
    m_range.declare(app, m_words.from, m_words.to);
    app.add_flag("--frames", m_frames, "Adds the whole stack to each row of --json");
    m_limit.declare(app, "rows");
    m_filter.declare(app, name().c_str());
    app.add_option("--sort", m_sort, listOf(m_words.orders) + "; " + m_words.sort)->type_name("COLUMN");
    declareMore(app);
    app.footer(footer(Footer::Filters));
}

model::Result<void> RowCommand::checkOptions()
{
    if (const auto filter = m_filter.check(); !filter)
        return filter;
    if (const auto order = setOrder(m_sort); !order)
        return order;
    if (const auto more = checkMore(); !more)
        return more;
    return m_limit.check();
}

model::Result<int> RowCommand::runOn(const std::string& file, Output& out, Output& err)
{
    const auto opened = openTrace(file, m_read, err);
    if (!opened)
        return model::Failure(opened.error());
    const model::DeviceTrace& trace = *opened->trace;
    const auto asked = parseRange(trace, m_range);
    if (!asked)
        return model::Failure(asked.error());
    const EventRange range = within(*asked);
    if (const auto prepared = prepare(trace, m_read.json, err); !prepared)
        return model::Failure(prepared.error());
    const std::vector<std::uint32_t> all = rowsOf(trace, range, m_filter.of(trace.recording()));
    const std::span rows = firstRows(all, m_limit.rows(m_read.json, out));
    const bool areAll = rows.size() == all.size();
    if (m_read.json) {
        writeRows(out, file, trace, range, rows, areAll);
        return kDone;
    }
    printTable(out, trace, range, rows, areAll);
    out.flush();
    if (!out.closed())
        sayLeftOut(err, std::ssize(all) - std::ssize(rows));
    return kDone;
}

void RowCommand::writeRows(Output& out, const std::string& file, const model::DeviceTrace& trace,
    EventRange range, std::span<const std::uint32_t> rows, bool areAll) const
{
    const RowLabels labels(trace.recording());
    const std::unique_ptr<Between> between = this->between(trace, range, true);
    JsonWriter json;
    model::RowsHeader header{ name(), trace.device(), file, range.from, range.to, {} };
    if (m_filter.given())
        header.filter.value = m_filter.printed();
    writeJson(json, header);
    json.endLine();
    for (const std::uint32_t row : rows) {
        if (between)
            between->write(json, row);
        writeRow(json, labels, row);
        json.endLine();
        if (json.text().size() >= kRowBuffer) {
            out.write(json.text());
            json.clear();
        }
        if (out.closed())
            break;
    }
    if (between && areAll)
        between->write(json, std::nullopt);
    out.write(json.text());
}

void RowCommand::printTable(Output& out, const model::DeviceTrace& trace, EventRange range,
    std::span<const std::uint32_t> rows, bool areAll) const
{
    const RowLabels labels(trace.recording());
    std::vector<RowTable::Column> columns = this->columns();
    const std::string_view last = columns.back().title;
    columns.pop_back();
    RowTable table(out, std::move(columns), last);
    const std::unique_ptr<Between> between = this->between(trace, range, false);
    for (const std::uint32_t row : rows) {
        if (between)
            between->print(table, row);
        printRow(table, labels, row);
        if (out.closed())
            return;
    }
    if (between && areAll)
        between->print(table, std::nullopt);
}

} // namespace strata::cli
