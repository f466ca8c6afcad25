// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/tables/row_command.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "model/analysis/training/ledger/block_modules.h"
#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/tables/event_columns.h"
#include "model/tables/row_order.h"
#include "model/tables/rows_between_events.h"
#include "model/trace/pairing/event_matcher.h"
#include "model/trace/thread_names.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace strata::cli {

using model::DeviceTrace;
using model::EventIndex;
using model::EventOrder;
using model::RowBetweenEvents;
using model::valueOf;

namespace {

/// In the table and between the lines of JSON.
class BetweenEvents final : public RowCommand::Between {
public:
    BetweenEvents(const DeviceTrace& trace, EventRange range)
        : m_trace(trace)
        , m_rows(model::rowsBetweenEvents(trace, range.from, range.to))
    {
        const model::Annotation* first = nullptr;
        for (const RowBetweenEvents& row : m_rows)
            if (row.annotation) {
                first = first ? first : row.annotation;
                m_severalThreads = m_severalThreads || row.annotation->thread != first->thread;
            }
    }

    void print(RowTable& table, std::optional<std::uint32_t> next) override
    {
        for (const RowBetweenEvents* row = take(next); row; row = take(next)) {
            const auto& events = m_trace.events();
            const std::string time = events.hasTimes() && events.size() > 0
                ? model::formatDuration(model::wrapSub(row->timeNs(), events.timeNs[0]))
                : "-";
            table.row({ "", time, "", "", "", row->kind() }, printable(row->text()) + threadOf(*row));
        }
    }

    void write(JsonWriter& json, std::optional<std::uint32_t> next) override
    {
        for (const RowBetweenEvents* row = take(next); row; row = take(next)) {
            writeJson(json, *row);
            json.endLine();
        }
    }

private:
    std::string threadOf(const RowBetweenEvents& row) const
    {
        return row.annotation && m_severalThreads ? fmt::format("  (thread {})",
                   printable(model::threadNameOrNumber(m_trace.recording(), row.annotation->thread)))
                                                  : "";
    }

    /// The next one before that event.
    const RowBetweenEvents* take(std::optional<std::uint32_t> event)
    {
        return m_next < m_rows.size() && (!event || m_rows[m_next].after < *event) ? &m_rows[m_next++]
                                                                                   : nullptr;
    }

    const DeviceTrace& m_trace;
    std::vector<RowBetweenEvents> m_rows;
    std::size_t m_next = 0;
    bool m_severalThreads = false;
};

class Events final : public RowCommand {
public:
    Events()
        : RowCommand("events", "Every event of the trace, one row each",
            { "First event to print, as a position", "Last event to print", model::kColumnNames<EventOrder>,
                "-size: the largest first. Events without one come last" })
    {
    }

protected:
    model::Result<void> setOrder(std::string_view name) override
    {
        const auto order = model::eventOrderFromName(name);
        if (!order)
            return model::Failure(order.error());
        m_order = *order;
        return {};
    }

    EventRange within(EventRange range) const override
    {
        return { std::max<EventIndex>(range.from, 0), range.to }; // -1 is a state and no event
    }

    std::vector<std::uint32_t> rowsOf(const DeviceTrace& trace, EventRange range,
        const std::vector<model::BlockFilter>& filters) const override
    {
        const auto matchers = matchersOf<model::EventMatcher>(trace, filters, m_labels);
        std::vector<std::uint32_t> rows;
        for (EventIndex event = range.from; event <= range.to; ++event) {
            const auto row = static_cast<std::uint32_t>(event);
            if (matchesAll(matchers, row))
                rows.push_back(row);
        }
        if (m_order != model::SortBy<EventOrder>{})
            model::sortRows(rows, model::rowKey(trace, m_order.order), m_order.descending);
        return rows;
    }

    void writeRow(JsonWriter& json, const RowLabels& labels, std::uint32_t row) const override
    {
        writeJson(json, model::EventRow{ &m_source, row }, labels);
    }

    std::vector<RowTable::Column> columns() const override
    {
        using enum EventOrder;
        return { tableColumn(Event, 10), tableColumn(Time, 10), tableColumn(Address, 14),
            tableColumn(Size, 9), tableColumn(Stream, 6), tableColumn(ActionName, 14), tableColumn(Line) };
    }

    void printRow(RowTable& table, const RowLabels& labels, std::uint32_t at) const override
    {
        using enum EventOrder;
        const model::EventRow row{ &m_source, at };
        const auto time = valueOf<Time>(row);
        const auto address = valueOf<Address>(row);
        std::string last = labels.line(valueOf<Line>(row).stack);
        if (row.isOom())
            last += fmt::format("  (device free: {})",
                model::formatBytes(static_cast<std::int64_t>(row.events().address[at])));
        table.row(
            { model::formatCount(at),
                time ? model::formatDuration(model::wrapSub(*time, row.events().timeNs[0])) : "-",
                address ? model::formatAddress(address->value) : "-", model::formatBytes(valueOf<Size>(row)),
                labels.stream(valueOf<Stream>(row).stream), printable(valueOf<ActionName>(row)) },
            last);
    }

    model::Result<void> prepare(const DeviceTrace& trace, bool json, Output& err) override
    {
        if (asksForLabels()) {
            auto training = m_training.of(trace);
            if (!training)
                return model::Failure(training.error());
            m_training.tell(trace, err);
            m_labels = model::deviceLabels(trace, training->categories);
            m_steps = std::move(training->steps);
        } else if (json) {
            auto steps = model::findTrainingSteps(trace, model::Clock(trace));
            if (!steps)
                return model::Failure(steps.error());
            m_steps = std::move(*steps);
        }
        m_source = { &trace, &m_steps, withFrames() };
        return {};
    }

    model::Result<void> checkMore() override { return m_training.check(); }

    void declareMore(CLI::App& app) override
    {
        app.add_flag("--annotations", m_annotations,
            "Steps, phases, marks and calls of the allocator between the events, in --json too; the table "
            "has "
            "them anyway unless --filter or --sort is given");
        m_training.declare(app);
    }

    std::unique_ptr<Between> between(const DeviceTrace& trace, EventRange range, bool json) const override
    {
        const bool inOrder = m_order == model::SortBy<EventOrder>{};
        const bool wanted = m_annotations || (!json && !isFiltered());
        return inOrder && wanted ? std::make_unique<BetweenEvents>(trace, range) : nullptr;
    }

private:
    model::SortBy<EventOrder> m_order;
    bool m_annotations = false;
    TrainingOption m_training;
    model::TrainingSteps m_steps; // with --json
    model::DeviceLabels m_labels; // where a filter asks for them
    model::EventSource m_source{}; // once prepared
};

} // namespace

std::unique_ptr<Command> makeEvents()
{
    return std::make_unique<Events>();
}

} // namespace strata::cli
