// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/groups_report.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/tables/row_table.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "model/analysis/summary/groups.h"
#include "model/analysis/training/ledger/block_modules.h"
#include "model/base/units.h"
#include "model/tables/position.h"
#include "model/tables/row_order.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

using model::Grouping;
using model::GroupTable;
using model::LiveGroups;
using Key = model::GroupingInfo::Key;

namespace {

constexpr std::size_t kFramesShown = 8;

void writeKey(
    JsonWriter& json, const model::Recording& recording, const GroupTable& table, std::uint32_t group)
{
    json.key("key");
    switch (model::infoOf(table.grouping()).key) {
    case Key::Label:
        json.value(table.label(group));
        break;
    case Key::Value:
        json.value(table.valueOf(group));
        break;
    case Key::Stack:
        writeSite(json, recording, table.stackOf(group));
        break;
    }
}

/// Those of the blocks that all filters keep.
std::vector<model::BlockId> matching(const model::DeviceTrace& trace, const FilterOption& filter,
    const model::DeviceLabels& labels, std::vector<model::BlockId> blocks)
{
    for (const model::BlockFilter& one : filter.of(trace.recording())) {
        const model::BlockMatcher matches(trace, one, labels);
        std::erase_if(blocks, [&](model::BlockId block) { return !matches(block); });
    }
    return blocks;
}

void writePositionJson(Output& out, const model::DeviceTrace& trace, const GroupTable& table,
    const LiveGroups& live, const FilterOption& filter, std::int64_t limit)
{
    JsonWriter json;
    json.beginObject().member("schema", 1).member("device", trace.device()).member("event", live.event);
    json.member("requested_bytes", live.requestedBytes).member("blocks", live.blocks);
    json.member("before_trace_bytes", live.beforeTraceBytes);
    writeFilter(json, filter);
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

constexpr const char* kIndent = "             ";

/// The program's own frames; what the innermost of them calls comes last, and stands for a stack without any.
void printFolded(Output& out, const model::Recording& recording, model::StackId stack)
{
    const std::vector<model::FoldedFrames> folded = model::foldedFrames(recording, stack);
    std::size_t own = 0;
    for (const model::FoldedFrames& each : folded)
        if (each.frame.valid() && ++own <= kFramesShown)
            out.line(kIndent + frameLine(recording, each.frame));
    if (own > kFramesShown)
        out.line(out.faint(fmt::format("{}... {} more of the program", kIndent, own - kFramesShown)));
    if (const model::FoldedFrames& inner = folded.front(); !inner.frame.valid())
        out.line(out.faint(fmt::format("{}{}{}{}", kIndent, own > 0 ? "calls " : "",
            printable(model::frameShortLabel(recording, inner.known)),
            inner.count > 1 ? fmt::format(" ({} frames)", inner.count) : "")));
}

void printSites(Output& out, const model::Recording& recording, const GroupTable& table,
    const LiveGroups& live, std::size_t rows, bool allFrames)
{
    for (std::size_t i = 0; i < rows; ++i) {
        const model::GroupSum& sum = live.groups[i];
        const model::StackId site = table.stackOf(sum.group);
        out.line("");
        out.line(fmt::format("  {}  {}, {} {}",
            out.strong(padded(model::formatBytes(sum.bytes), 9, Table::Align::Right)),
            model::formatShare(sum.bytes, live.requestedBytes), model::formatCount(sum.blocks),
            sum.blocks == 1 ? "block" : "blocks"));
        const auto frames = recording.stacks.stack(site);
        if (frames.empty())
            out.line(kIndent + std::string(model::kNoStackLabel));
        else if (!allFrames)
            printFolded(out, recording, site);
        else
            for (const model::FrameId frame : frames)
                out.line(kIndent + frameLine(recording, frame));
    }
}

void printPosition(Output& out, const model::DeviceTrace& trace, const GroupTable& table,
    const LiveGroups& live, const FilterOption& filter, std::int64_t limit, bool allFrames)
{
    std::string head = fmt::format("{}, {} {}: {} requested in {} {}", deviceName(trace.device()),
        live.event < 0 ? "state" : "after", momentName(trace, live.event),
        out.strong(model::formatBytes(live.requestedBytes)), model::formatCount(live.blocks),
        live.blocks == 1 ? "block" : "blocks");
    if (live.beforeTraceBytes > 0)
        head += fmt::format(", {} of it older than the trace", model::formatBytes(live.beforeTraceBytes));
    for (const std::string& text : filter.printed())
        head += fmt::format(", filtered by '{}'", printable(text));
    printParagraph(out, head + ".");
    const auto rows = static_cast<std::size_t>(std::min<std::int64_t>(limit, std::ssize(live.groups)));
    if (model::infoOf(table.grouping()).key == Key::Stack)
        printSites(out, trace.recording(), table, live, rows, allFrames);
    else if (rows > 0) {
        out.line("");
        groupTable(table, live, rows).print(out);
    }
    if (rows < live.groups.size())
        out.line(out.faint(fmt::format("  ... {} more groups: --limit 0 prints all",
            model::formatCount(static_cast<std::int64_t>(live.groups.size() - rows)))));
}

class At final : public FileCommand {
public:
    At()
        : FileCommand("at", "What was live at one instant, by " + model::groupingNames())
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        app.add_option("POSITION", m_position, "The instant, see below")->required()->type_name("");
        m_read.declare(app, ReadOptions::Devices::One);
        app.add_option("--by", m_by, model::groupingNames() + " (default line)")->type_name("GROUP");
        app.add_flag("--frames", m_frames, "With --by site: every frame, not the program's own alone");
        m_limit.declare(app, "groups");
        m_filter.declare(app, "blocks");
        m_training.declare(app);
        app.add_option("--sort", m_sort, "bytes, blocks or group; -bytes (default): the largest first")
            ->type_name("COLUMN");
        app.footer(footer(Footer::Filters));
    }

    model::Result<void> checkOptions() override
    {
        const auto grouping = model::groupingFromName(m_by);
        if (!grouping)
            return model::fail(model::Error::Kind::Usage, model::say("--by does not know '%1'", m_by),
                model::say("give %1", model::groupingNames()));
        m_grouping = *grouping;
        const auto order = model::groupOrderFromName(m_sort);
        if (!order)
            return model::Failure(order.error());
        m_order = *order;
        if (const auto filter = m_filter.check(); !filter)
            return filter;
        if (const auto rules = m_training.check(); !rules)
            return rules;
        return m_limit.check();
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto opened = openTrace(file, m_read, err);
        if (!opened)
            return model::Failure(opened.error());
        const model::DeviceTrace& trace = *opened->trace;
        const auto event = model::parsePosition(m_position, trace);
        if (!event)
            return model::Failure(event.error());

        const auto labels = labelsOf(trace);
        if (!labels)
            return model::Failure(labels.error());
        const GroupTable table = groups(trace, *labels);
        if (model::infoOf(m_grouping).ofLabels || m_filter.asksForLabels())
            m_training.tell(trace, err);
        LiveGroups live = model::groupBlocks(
            trace, matching(trace, m_filter, *labels, model::activeBlocks(trace, *event)), table, *event);
        model::sortGroups(live.groups, table, m_order);
        const std::int64_t limit = m_limit.rows(m_read.json, out);
        if (m_read.json)
            writePositionJson(out, trace, table, live, m_filter, limit);
        else
            printPosition(out, trace, table, live, m_filter, limit, m_frames);
        return kDone;
    }

private:
    /// None where nothing asks for them.
    [[nodiscard]] model::Result<model::DeviceLabels> labelsOf(const model::DeviceTrace& trace) const
    {
        if (!model::infoOf(m_grouping).ofLabels && !m_filter.asksForLabels())
            return model::DeviceLabels();
        const auto training = m_training.of(trace);
        if (!training)
            return model::Failure(training.error());
        return model::deviceLabels(trace, training->categories);
    }

    [[nodiscard]] GroupTable groups(const model::DeviceTrace& trace, const model::DeviceLabels& labels) const
    {
        if (!model::infoOf(m_grouping).ofLabels)
            return GroupTable(trace, m_grouping);
        return GroupTable(
            trace, m_grouping, m_grouping == Grouping::Category ? labels.category : labels.module);
    }

    std::string m_position;
    ReadOptions m_read;
    TrainingOption m_training;
    std::string m_by = "line";
    LimitOption m_limit;
    FilterOption m_filter;
    bool m_frames = false;
    std::string m_sort = "-bytes";
    model::SortBy<model::GroupOrder> m_order;
    Grouping m_grouping = Grouping::Line;
};

} // namespace

std::unique_ptr<Command> makeAt()
{
    return std::make_unique<At>();
}

} // namespace strata::cli
