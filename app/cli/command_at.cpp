// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/groups_report.h"
#include "app/cli/report.h"
#include "model/analysis/groups.h"
#include "model/analysis/position.h"
#include "model/base/units.h"

#include <fmt/format.h>

namespace strata::cli {

using model::Grouping;
using model::GroupTable;
using model::LiveGroups;

namespace {

constexpr std::size_t kFramesShown = 8;

void writeSite(JsonWriter& json, const model::Recording& recording, model::StackId site)
{
    json.beginObject().key("id");
    if (site.valid())
        json.value(site.value);
    else
        json.null();
    json.key("frames");
    writeFrames(json, recording, site);
    json.endObject();
}

void writeKey(
    JsonWriter& json, const model::Recording& recording, const GroupTable& table, std::uint32_t group)
{
    json.key("key");
    switch (table.grouping()) {
    case Grouping::Line:
    case Grouping::Pool:
        json.value(table.label(group));
        break;
    case Grouping::Site:
        writeSite(json, recording, table.stackOf(group));
        break;
    case Grouping::Stream:
    case Grouping::Size:
        json.value(table.valueOf(group));
        break;
    }
}

void writeJson(Output& out, const model::DeviceTrace& trace, const GroupTable& table, const LiveGroups& live,
    std::int64_t limit)
{
    JsonWriter json;
    json.beginObject().member("schema", 1).member("device", trace.device()).member("event", live.event);
    json.member("requested_bytes", live.requestedBytes).member("blocks", live.blocks);
    json.member("before_trace_bytes", live.beforeTraceBytes);
    json.key("groups").beginArray();
    for (const model::GroupSum& sum : live.groups) {
        if (limit-- <= 0)
            break;
        json.beginObject();
        writeKey(json, trace.recording(), table, sum.group);
        json.member("bytes", sum.bytes).member("blocks", sum.blocks).endObject();
    }
    json.endArray().endObject().endLine();
    out.write(json.text());
}

void printSites(Output& out, const model::Recording& recording, const GroupTable& table,
    const LiveGroups& live, std::size_t rows)
{
    for (std::size_t i = 0; i < rows; ++i) {
        const model::GroupSum& sum = live.groups[i];
        const model::StackId site = table.stackOf(sum.group);
        out.line("");
        out.line(fmt::format("  {}  {}, {} {}",
            out.strong(padded(model::formatBytes(sum.bytes), 9, Table::Align::Right)),
            share(sum.bytes, live.requestedBytes), model::formatCount(sum.blocks),
            sum.blocks == 1 ? "block" : "blocks"));
        const auto frames = recording.stacks.stack(site);
        if (frames.empty())
            out.line("             no stack recorded");
        for (std::size_t f = 0; f < frames.size() && f < kFramesShown; ++f)
            out.line(fmt::format("             {}", frameLine(recording, frames[f])));
        if (frames.size() > kFramesShown)
            out.line(out.faint(fmt::format("             ... {} more frames", frames.size() - kFramesShown)));
    }
}

void printReport(Output& out, const model::DeviceTrace& trace, const GroupTable& table,
    const LiveGroups& live, std::int64_t limit)
{
    std::string head = fmt::format("{}, {} {}: {} requested in {} {}", deviceName(trace.device()),
        live.event < 0 ? "state" : "after", momentName(trace, live.event),
        out.strong(model::formatBytes(live.requestedBytes)), model::formatCount(live.blocks),
        live.blocks == 1 ? "block" : "blocks");
    if (live.beforeTraceBytes > 0)
        head += fmt::format(", {} of it older than the trace", model::formatBytes(live.beforeTraceBytes));
    printParagraph(out, head + ".");
    const auto rows = static_cast<std::size_t>(std::min<std::int64_t>(limit, std::ssize(live.groups)));
    if (table.grouping() == Grouping::Site)
        printSites(out, trace.recording(), table, live, rows);
    else if (rows > 0) {
        out.line("");
        groupTable(table, live, rows).print(out);
    }
    if (rows < live.groups.size())
        out.line(out.faint(fmt::format("  ... {} more groups: --limit 0 prints all",
            model::formatCount(static_cast<std::int64_t>(live.groups.size() - rows)))));
}

} // namespace

model::Result<int> runAt(const std::string& file, const Options& options, Output& out, Output& err)
{
    const auto session = openSession(file, options.force, err);
    if (!session)
        return model::Failure(session.error());
    const auto trace = chooseDevice(**session, options.device);
    if (!trace)
        return model::Failure(trace.error());
    const auto event = model::parsePosition(options.position, **trace);
    if (!event)
        return model::Failure(event.error());

    const GroupTable table(**trace, options.grouping);
    const LiveGroups live = model::groupsAt(**trace, table, *event);
    const std::int64_t limit = rowLimit(options, out);
    if (options.json)
        writeJson(out, **trace, table, live, limit);
    else
        printReport(out, **trace, table, live, limit);
    return kDone;
}

} // namespace strata::cli
