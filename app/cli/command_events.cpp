// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/row_labels.h"
#include "app/cli/row_table.h"
#include "app/cli/text.h"
#include "model/analysis/row_order.h"
#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/trace/event_matcher.h"
#include "model/trace/grouping.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <span>

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

void writeRow(JsonWriter& json, const DeviceTrace& trace, RowLabels& labels, EventIndex event, bool frames)
{
    const EventColumns& events = trace.events();
    const auto row = static_cast<std::size_t>(event);
    const bool isOom = events.action[row] == Action::Oom;
    const model::StackId stack = events.stack[row];

    json.beginObject().member("event", event).member("action", actionOf(trace, event)).key("address");
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
    json.key("stack_id");
    if (stack.valid())
        json.value(stack.value);
    else
        json.null();
    json.key("line").plain(labels.lineJson(stack));
    json.key("pool").plain(labels.poolJson(model::poolOfEvent(trace, event)));
    if (isOom)
        json.member("device_free", events.address[row]);
    writeText(json, trace, "compile_context", events.compileContext.at(event));
    writeText(json, trace, "user_metadata", events.userMetadata.at(event));
    if (const model::StringId extras = events.extras.at(event); extras.valid())
        json.key("extras").foreign(trace.recording().strings[extras]);
    if (frames)
        json.key("frames").plain(labels.framesJson(stack));
    json.endObject().endLine();
}

/// The events of the range that all filters keep, in order.
std::vector<std::uint32_t> rowsOf(const DeviceTrace& trace, EventRange range,
    const std::vector<model::BlockFilter>& filters, const model::SortBy<EventOrder>& sort)
{
    std::vector<model::EventMatcher> matchers;
    for (const model::BlockFilter& filter : filters)
        matchers.emplace_back(trace, filter);
    std::vector<std::uint32_t> rows;
    for (EventIndex e = range.from; e <= range.to; ++e) {
        const auto row = static_cast<std::uint32_t>(e);
        if (std::all_of(matchers.begin(), matchers.end(), [row](const auto& m) { return m(row); }))
            rows.push_back(row);
    }
    if (sort != model::SortBy<EventOrder>{})
        model::sortRows(rows, model::rowKey(trace, sort.order), sort.descending);
    return rows;
}

void writeJson(Output& out, const std::string& file, const DeviceTrace& trace, EventRange range,
    std::span<const std::uint32_t> rows, const FilterOption& filter, bool frames)
{
    RowLabels labels(trace.recording());
    JsonWriter json;
    json.beginObject().member("schema", 1).member("kind", "events").member("device", trace.device());
    json.member("file", file).member("from", range.from).member("to", range.to);
    writeFilter(json, filter);
    json.endObject().endLine();
    for (const std::uint32_t row : rows) {
        writeRow(json, trace, labels, row, frames);
        if (json.text().size() >= kRowBuffer) {
            out.write(json.text());
            json.clear();
        }
        if (out.closed())
            break;
    }
    out.write(json.text());
}

void printTable(Output& out, const DeviceTrace& trace, std::span<const std::uint32_t> rows)
{
    const EventColumns& events = trace.events();
    RowLabels labels(trace.recording());
    RowTable table(out,
        { { "event", 10 }, { "time", 10 }, { "address", 14 }, { "bytes", 9 }, { "stream", 6 },
            { "action", 14, true } },
        "line");
    const std::int64_t startNs = events.hasTimes() ? events.timeNs[0] : 0;
    for (const std::uint32_t row : rows) {
        const bool isOom = events.action[row] == Action::Oom;
        std::string last = labels.line(events.stack[row]);
        if (isOom)
            last += fmt::format(
                "  (device free: {})", model::formatBytes(static_cast<std::int64_t>(events.address[row])));
        table.row(
            { model::formatCount(row),
                events.hasTimes() ? model::formatDuration(model::wrapSub(events.timeNs[row], startNs)) : "-",
                isOom ? "-" : model::formatAddress(events.address[row]),
                model::formatBytes(events.bytes[row]), labels.stream(events.stream[row]),
                printable(actionOf(trace, row)) },
            last);
        if (out.closed())
            break;
    }
}

class Events final : public FileCommand {
public:
    Events()
        : FileCommand("events", "Every event of the trace, one row each")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        m_read.declare(app, ReadOptions::Devices::One);
        m_range.declare(app, "First event to print, as a position", "Last event to print");
        app.add_flag("--frames", m_frames, "Adds the whole stack to each row of --json");
        m_limit.declare(app, "rows");
        m_filter.declare(app, "events");
        app.add_option("--sort", m_sort,
               "event (default), time, action, size, line, address, stream, pool, metadata, compile_context "
               "or "
               "extras; -size: the largest first. Events without one come last")
            ->type_name("COLUMN");
        app.footer(footer(Footer::Filters));
    }

    model::Result<void> checkOptions() override
    {
        if (const auto filter = m_filter.check(); !filter)
            return filter;
        const auto order = model::eventOrderFromName(m_sort);
        if (!order)
            return model::Failure(order.error());
        m_order = *order;
        return m_limit.check();
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto session = openSession(file, m_read.force, err);
        if (!session)
            return model::Failure(session.error());
        const auto trace = chooseDevice(**session, m_read.device);
        if (!trace)
            return model::Failure(trace.error());
        auto range = parseRange(**trace, m_range);
        if (!range)
            return model::Failure(range.error());
        range->from = std::max<EventIndex>(range->from, 0); // -1 is a state and no event
        const std::vector<std::uint32_t> all
            = rowsOf(**trace, *range, m_filter.of((*session)->recording()), m_order);
        const std::span rows = firstRows(all, m_limit.rows(m_read.json, out));
        if (m_read.json) {
            writeJson(out, file, **trace, *range, rows, m_filter, m_frames);
            return kDone;
        }
        printTable(out, **trace, rows);
        out.flush();
        if (!out.closed())
            sayLeftOut(err, std::ssize(all) - std::ssize(rows));
        return kDone;
    }

private:
    ReadOptions m_read;
    RangeOptions m_range;
    bool m_frames = false;
    LimitOption m_limit;
    FilterOption m_filter;
    std::string m_sort{ model::orderName(EventOrder::Event) };
    model::SortBy<EventOrder> m_order;
};

} // namespace

std::unique_ptr<Command> makeEvents()
{
    return std::make_unique<Events>();
}

} // namespace strata::cli
