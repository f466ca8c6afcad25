// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/json_writer.h"
#include "app/cli/row_labels.h"
#include "app/cli/row_table.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/trace/grouping.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

using model::Action;
using model::DeviceTrace;
using model::EventColumns;
using model::EventIndex;

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

void writeJson(
    Output& out, const std::string& file, const DeviceTrace& trace, EventRange range, const Options& options)
{
    RowLabels labels(trace.recording());
    JsonWriter json;
    json.beginObject().member("schema", 1).member("kind", "events").member("device", trace.device());
    json.member("file", file).member("from", range.from).member("to", range.to).endObject().endLine();
    std::int64_t limit = rowLimit(options, out);
    for (EventIndex e = range.from; e <= range.to && limit > 0 && !out.closed(); ++e, --limit) {
        writeRow(json, trace, labels, e, options.frames);
        if (json.text().size() >= kRowBuffer) {
            out.write(json.text());
            json.clear();
        }
    }
    out.write(json.text());
}

void printTable(Output& out, Output& err, const DeviceTrace& trace, EventRange range, std::int64_t limit)
{
    const EventColumns& events = trace.events();
    RowLabels labels(trace.recording());
    RowTable table(out,
        { { "event", 10 }, { "time", 10 }, { "address", 14 }, { "bytes", 9 }, { "stream", 6 },
            { "action", 14, true } },
        "line");
    const std::int64_t startNs = events.hasTimes() ? events.timeNs[0] : 0;
    EventIndex e = range.from;
    for (; e <= range.to && limit > 0 && !out.closed(); ++e, --limit) {
        const auto row = static_cast<std::size_t>(e);
        const bool isOom = events.action[row] == Action::Oom;
        std::string last = labels.line(events.stack[row]);
        if (isOom)
            last += fmt::format(
                "  (device free: {})", model::formatBytes(static_cast<std::int64_t>(events.address[row])));
        table.row(
            { model::formatCount(e),
                events.hasTimes() ? model::formatDuration(model::wrapSub(events.timeNs[row], startNs)) : "-",
                isOom ? "-" : model::formatAddress(events.address[row]),
                model::formatBytes(events.bytes[row]), labels.stream(events.stream[row]),
                printable(actionOf(trace, e)) },
            last);
    }
    out.flush();
    if (!out.closed())
        sayLeftOut(err, range.to - e + 1);
}

} // namespace

model::Result<int> runEvents(const std::string& file, const Options& options, Output& out, Output& err)
{
    const auto session = openSession(file, options.force, err);
    if (!session)
        return model::Failure(session.error());
    const auto trace = chooseDevice(**session, options.device);
    if (!trace)
        return model::Failure(trace.error());
    auto range = parseRange(**trace, options);
    if (!range)
        return model::Failure(range.error());
    range->from = std::max<EventIndex>(range->from, 0); // -1 is a state and no event
    if (options.json)
        writeJson(out, file, **trace, *range, options);
    else
        printTable(out, err, **trace, *range, rowLimit(options, out));
    return kDone;
}

} // namespace strata::cli
