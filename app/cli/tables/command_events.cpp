// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/tables/row_command.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "model/analysis/training/ledger/block_modules.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/tables/row_order.h"
#include "model/timeline/clock.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/pairing/event_matcher.h"
#include "model/trace/program/allocator_calls.h"
#include "model/trace/thread_names.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace strata::cli {

using model::Action;
using model::DeviceTrace;
using model::EventColumns;
using model::EventIndex;
using model::EventOrder;

namespace {

std::string_view actionOf(const DeviceTrace& trace, EventIndex event)
{
    const EventColumns& events = trace.events();
    const Action action = events.action[static_cast<std::size_t>(event)];
    const model::StringId other = action == Action::Other ? events.otherAction.at(event) : model::StringId{};
    return other.valid() ? trace.recording().strings[other] : model::actionName(action);
}

void writeText(JsonWriter& json, const DeviceTrace& trace, std::string_view key, model::StringId text)
{
    if (text.valid())
        json.member(key, trace.recording().strings[text]);
}

std::string_view wordOf(wire::AnnotationRole role)
{
    switch (role) {
    case wire::AnnotationRole::Begins:
        return "begin";
    case wire::AnnotationRole::Ends:
        return "end";
    case wire::AnnotationRole::Moment:
        break;
    }
    return "mark";
}

/// Steps, phases and marks, each behind the last event before it, and calls of the allocator, each before the
/// event that it was made before.
class BetweenEvents final : public RowCommand::Between {
public:
    BetweenEvents(const DeviceTrace& trace, EventRange range)
        : m_trace(trace)
    {
        if (trace.events().hasTimes())
            addAnnotations(range);
        for (const auto& call : model::AllocatorCalls::of(trace.recording(), trace.device()))
            if (isWithin(call.event - 1, range))
                m_rows.push_back({ call.event - 1, nullptr, &call });
        std::ranges::stable_sort(
            m_rows, {}, [](const Row& row) { return std::pair(row.after, timeOf(row)); });
    }

    void print(RowTable& table, std::optional<std::uint32_t> next) override
    {
        for (const Row* row = take(next); row; row = take(next)) {
            const auto& events = m_trace.events();
            const std::string time = events.hasTimes() && events.size() > 0
                ? model::formatDuration(model::wrapSub(timeOf(*row), events.timeNs[0]))
                : "-";
            table.row({ "", time, "", "", "", nameOf(*row) }, printable(textOf(*row)) + threadOf(*row));
        }
    }

    void write(JsonWriter& json, std::optional<std::uint32_t> next) override
    {
        for (const Row* row = take(next); row; row = take(next)) {
            json.beginObject();
            if (row->call)
                json.member("allocator_call", nameOf(*row)).member("value", textOf(*row));
            else
                json.member("annotation", nameOf(*row)).member("name", textOf(*row));
            json.member("time_ns", timeOf(*row));
            if (row->annotation)
                json.member("thread", row->annotation->thread);
            json.member("after_event", row->after).endObject().endLine();
        }
    }

private:
    struct Row {
        EventIndex after;
        const model::Annotation* annotation; ///< this or the next
        const model::AllocatorCall* call;
    };

    static bool isWithin(EventIndex after, EventRange range)
    {
        return after >= range.from - 1 && after <= range.to;
    }
    static std::int64_t timeOf(const Row& row)
    {
        return row.call ? row.call->timeNs : row.annotation->timeNs;
    }
    static std::string_view nameOf(const Row& row)
    {
        return row.call ? model::callName(row.call->kind) : wordOf(wire::roleOf(row.annotation->kind));
    }
    std::string_view textOf(const Row& row) const
    {
        const model::StringId text = row.call ? row.call->value : row.annotation->name;
        return text.valid() ? m_trace.recording().strings[text] : std::string_view();
    }
    std::string threadOf(const Row& row) const
    {
        return row.annotation && m_severalThreads ? fmt::format("  (thread {})",
                   printable(model::threadNameOrNumber(m_trace.recording(), row.annotation->thread)))
                                                  : "";
    }

    void addAnnotations(EventRange range)
    {
        const model::Clock clock(m_trace);
        std::uint32_t thread = 0;
        for (const auto& row : m_trace.recording().annotations) {
            if (row.device >= 0 && row.device != m_trace.device())
                continue;
            const EventIndex after = clock.eventAt(row.timeNs);
            if (!isWithin(after, range))
                continue;
            m_severalThreads = m_severalThreads || (!m_rows.empty() && thread != row.thread);
            thread = row.thread;
            m_rows.push_back({ after, &row, nullptr });
        }
    }

    /// The next one before that event.
    const Row* take(std::optional<std::uint32_t> event)
    {
        return m_next < m_rows.size() && (!event || m_rows[m_next].after < *event) ? &m_rows[m_next++]
                                                                                   : nullptr;
    }

    const DeviceTrace& m_trace;
    std::vector<Row> m_rows;
    std::size_t m_next = 0;
    bool m_severalThreads = false;
};

class Events final : public RowCommand {
public:
    Events()
        : RowCommand("events", "Every event of the trace, one row each",
            { "First event to print, as a position", "Last event to print",
                "event (default), time, action, size, line, address, stream, pool, metadata, "
                "compile_context or extras; -size: the largest first. Events without one come last",
                std::string(model::orderName(EventOrder::Event)) })
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

    model::StackId stackOf(const DeviceTrace& trace, std::uint32_t row) const override
    {
        return trace.events().stack[row];
    }

    void writeRow(
        JsonWriter& json, const DeviceTrace& trace, RowLabels& labels, std::uint32_t row) const override
    {
        const EventColumns& events = trace.events();
        const bool isOom = events.action[row] == Action::Oom;
        const model::StackId stack = events.stack[row];

        json.member("event", row).member("action", actionOf(trace, row)).key("address");
        if (isOom)
            json.null();
        else
            json.value(events.address[row]);
        json.member("bytes", events.bytes[row])
            .key("stream")
            .plain(labels.stream(events.stream[row]))
            .key("time_ns");
        if (events.hasTimes())
            json.value(events.timeNs[row]);
        else
            json.null();
        writeId(json, "stack_id", stack);
        json.key("line").plain(labels.lineJson(stack));
        json.key("pool").plain(labels.poolJson(model::poolOfEvent(trace, row)));
        json.key("thread");
        if (const model::ThreadIndex thread = events.threadOf(row); thread != model::kNoIndex)
            json.value(trace.recording().threads[thread]);
        else
            json.null();
        json.key("phase");
        if (const model::Phase phase = m_steps.phaseAt(row); phase != model::Phase::Unknown)
            json.value(model::phaseWord(phase));
        else
            json.null();
        json.key("autograd");
        if (const model::EventPhase phase = events.phaseOf(row); phase != model::EventPhase::Unknown)
            json.value(model::phaseName(phase));
        else
            json.null();
        json.key("module");
        if (const model::ModuleIndex module = events.moduleOf(row); module != model::kNoIndex)
            json.value(trace.recording().strings[trace.recording().modules[module]]);
        else
            json.null();
        if (isOom)
            json.member("device_free", events.address[row]);
        writeText(json, trace, "compile_context", events.compileContext.at(row));
        writeText(json, trace, "user_metadata", events.userMetadata.at(row));
        if (const model::StringId extras = events.extras.at(row); extras.valid())
            json.key("extras").foreign(trace.recording().strings[extras]);
    }

    std::vector<RowTable::Column> columns() const override
    {
        return { { "event", 10 }, { "time", 10 }, { "address", 14 }, { "bytes", 9 }, { "stream", 6 },
            { "action", 14, true } };
    }

    void printRow(
        RowTable& table, const DeviceTrace& trace, RowLabels& labels, std::uint32_t row) const override
    {
        const EventColumns& events = trace.events();
        const bool isOom = events.action[row] == Action::Oom;
        std::string last = labels.line(events.stack[row]);
        if (isOom)
            last += fmt::format(
                "  (device free: {})", model::formatBytes(static_cast<std::int64_t>(events.address[row])));
        table.row({ model::formatCount(row),
                      events.hasTimes()
                          ? model::formatDuration(model::wrapSub(events.timeNs[row], events.timeNs[0]))
                          : "-",
                      isOom ? "-" : model::formatAddress(events.address[row]),
                      model::formatBytes(events.bytes[row]), labels.stream(events.stream[row]),
                      printable(actionOf(trace, row)) },
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
};

} // namespace

std::unique_ptr<Command> makeEvents()
{
    return std::make_unique<Events>();
}

} // namespace strata::cli
