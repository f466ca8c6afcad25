// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/groups_report.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "model/analysis/summary/groups_answer.h"
#include "model/analysis/training/ledger/block_modules.h"
#include "model/base/units.h"
#include "model/tables/position.h"
#include "model/tables/row_order.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

using model::Grouping;
using model::GroupsAnswer;
using model::GroupTable;
using model::LiveGroups;

namespace {

constexpr std::size_t kFramesShown = 8;

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

void printSites(Output& out, const GroupsAnswer& answer, bool allFrames)
{
    const model::Recording& recording = answer.trace->recording();
    for (std::size_t i = 0; i < answer.listed; ++i) {
        const model::GroupSum& sum = answer.live.groups[i];
        const model::StackId site = answer.table.stackOf(sum.group);
        out.line("");
        out.line(fmt::format("  {}  {}, {} {}",
            out.strong(padded(model::formatBytes(sum.bytes), 9, Table::Align::Right)),
            model::formatShare(sum.bytes, answer.live.requestedBytes), model::formatCount(sum.blocks),
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

void printPosition(Output& out, const GroupsAnswer& answer, bool allFrames)
{
    const LiveGroups& live = answer.live;
    std::string head = fmt::format("{}, {} {}: {} requested in {} {}", deviceName(answer.trace->device()),
        live.event < 0 ? "state" : "after", momentName(*answer.trace, live.event),
        out.strong(model::formatBytes(live.requestedBytes)), model::formatCount(live.blocks),
        live.blocks == 1 ? "block" : "blocks");
    if (live.beforeTraceBytes > 0)
        head += fmt::format(", {} of it older than the trace", model::formatBytes(live.beforeTraceBytes));
    for (const std::string& text : answer.filters)
        head += fmt::format(", filtered by '{}'", printable(text));
    printParagraph(out, head + ".");
    if (model::infoOf(answer.table.grouping()).key == model::GroupingInfo::Key::Stack)
        printSites(out, answer, allFrames);
    else if (answer.listed > 0) {
        out.line("");
        groupTable(answer.table, live, answer.listed).print(out);
    }
    if (answer.listed < live.groups.size())
        out.line(out.faint(fmt::format("  ... {} more groups: --limit 0 prints all",
            model::formatCount(static_cast<std::int64_t>(live.groups.size() - answer.listed)))));
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
        GroupTable table = groups(trace, *labels);
        if (model::infoOf(m_grouping).ofLabels || m_filter.asksForLabels())
            m_training.tell(trace, err);
        LiveGroups live = model::groupBlocks(
            trace, matching(trace, m_filter, *labels, model::activeBlocks(trace, *event)), table, *event);
        model::sortGroups(live.groups, table, m_order);
        const std::int64_t listed = std::min(m_limit.rows(m_read.json, out), std::ssize(live.groups));
        const GroupsAnswer answer{ &trace, std::move(table), std::move(live), m_filter.printed(),
            static_cast<std::size_t>(listed) };
        if (m_read.json)
            out.write(jsonLine(answer, answer));
        else
            printPosition(out, answer, m_frames);
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
