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

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <span>

namespace strata::cli {

using model::BlockColumns;
using model::BlockId;
using model::BlockOrder;
using model::DeviceTrace;

namespace {

bool isAlive(const BlockColumns& blocks, BlockId block, EventRange range)
{
    return blocks.birth(block) <= range.to && blocks.death(block) > range.from;
}

/// The blocks of the range that all filters keep, in order.
std::vector<std::uint32_t> rowsOf(const DeviceTrace& trace, EventRange range,
    const std::vector<model::BlockFilter>& filters, const model::SortBy<BlockOrder>& sort)
{
    std::vector<model::BlockMatcher> matchers;
    for (const model::BlockFilter& filter : filters)
        matchers.emplace_back(trace, filter);
    const BlockColumns& blocks = trace.blocks();
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < blocks.size(); ++row) {
        const BlockId block = blocks.at(row);
        if (isAlive(blocks, block, range)
            && std::all_of(matchers.begin(), matchers.end(), [block](const auto& m) { return m(block); }))
            rows.push_back(row);
    }
    if (sort != model::SortBy<BlockOrder>{})
        model::sortRows(rows, model::rowKey(trace, sort.order), sort.descending);
    return rows;
}

void writeEvent(JsonWriter& json, std::string_view key, model::EventId event)
{
    json.key(key);
    if (event.valid())
        json.value(event.value);
    else
        json.null();
}

void writeRow(JsonWriter& json, const DeviceTrace& trace, RowLabels& labels, BlockId block, bool frames)
{
    const BlockColumns& blocks = trace.blocks();
    const model::SegmentLife* segment = trace.segmentAt(blocks.address[block], blocks.birth(block));
    const model::StackId stack = blocks.stack[block];

    json.beginObject().member("block", block.value).member("address", blocks.address[block]);
    json.key("segment_address");
    if (segment)
        json.value(segment->address);
    else
        json.null();
    json.member("requested_bytes", blocks.requestedBytes[block]).key("rounded_bytes");
    if (blocks.rounding[block] != BlockColumns::kRoundingUnknown)
        json.value(model::wrapAdd(blocks.requestedBytes[block], blocks.rounding[block]));
    else
        json.null();
    json.key("stream").plain(labels.stream(blocks.stream[block]));
    json.key("pool").plain(labels.poolJson(blocks.pool[block]));
    writeEvent(json, "alloc_event", blocks.allocOf(block));
    writeEvent(json, "free_requested_event", blocks.freeRequested[block]);
    writeEvent(json, "free_completed_event", blocks.freeCompleted[block]);
    json.key("stack_id");
    if (stack.valid())
        json.value(stack.value);
    else
        json.null();
    json.key("line").plain(labels.lineJson(stack));
    if (frames)
        json.key("frames").plain(labels.framesJson(stack));
    json.endObject().endLine();
}

void writeJson(Output& out, const std::string& file, const DeviceTrace& trace, EventRange range,
    std::span<const std::uint32_t> rows, const FilterOption& filter, bool frames)
{
    RowLabels labels(trace.recording());
    JsonWriter json;
    json.beginObject().member("schema", 1).member("kind", "blocks").member("device", trace.device());
    json.member("file", file).member("from", range.from).member("to", range.to);
    writeFilter(json, filter);
    json.endObject().endLine();
    for (const std::uint32_t row : rows) {
        writeRow(json, trace, labels, trace.blocks().at(row), frames);
        if (json.text().size() >= kRowBuffer) {
            out.write(json.text());
            json.clear();
        }
        if (out.closed())
            break;
    }
    out.write(json.text());
}

std::string eventName(model::EventId event, const char* none)
{
    return event.valid() ? model::formatCount(event.value) : none;
}

void printTable(Output& out, const DeviceTrace& trace, std::span<const std::uint32_t> rows)
{
    const BlockColumns& blocks = trace.blocks();
    RowLabels labels(trace.recording());
    RowTable table(out,
        { { "block", 9 }, { "address", 14 }, { "requested", 9 }, { "rounded", 9 }, { "stream", 6 },
            { "alloc", 10 }, { "free asked", 10 }, { "free done", 10 }, { "pool", 11, true } },
        "line");
    for (const std::uint32_t row : rows) {
        const BlockId block = blocks.at(row);
        const bool rounded = blocks.rounding[block] != BlockColumns::kRoundingUnknown;
        table.row({ model::formatCount(block.value), model::formatAddress(blocks.address[block]),
                      model::formatBytes(blocks.requestedBytes[block]),
                      rounded ? model::formatBytes(
                          model::wrapAdd(blocks.requestedBytes[block], blocks.rounding[block]))
                              : "-",
                      labels.stream(blocks.stream[block]), eventName(blocks.allocOf(block), "before"),
                      eventName(blocks.freeRequested[block], "-"),
                      eventName(blocks.freeCompleted[block], "live"), labels.pool(blocks.pool[block]) },
            labels.line(blocks.stack[block]));
        if (out.closed())
            break;
    }
}

class Blocks final : public FileCommand {
public:
    Blocks()
        : FileCommand("blocks", "Every block with its life, one row each")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        m_read.declare(app, ReadOptions::Devices::One);
        m_range.declare(
            app, "Only blocks that are alive at or after this position", "... and at or before this one");
        app.add_flag("--frames", m_frames, "Adds the whole stack to each row of --json");
        m_limit.declare(app, "rows");
        m_filter.declare(app, "blocks");
        app.add_option("--sort", m_sort,
               "block (default), requested, rounded, line, born, free_requested, freed, lifetime (in "
               "events), "
               "duration (in time), stream, pool, address or segment; -requested: the largest first. Blocks "
               "without one come last")
            ->type_name("COLUMN");
        app.footer(footer(Footer::Filters));
    }

    model::Result<void> checkOptions() override
    {
        if (const auto filter = m_filter.check(); !filter)
            return filter;
        const auto order = model::blockOrderFromName(m_sort);
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
        const auto range = parseRange(**trace, m_range);
        if (!range)
            return model::Failure(range.error());
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
    std::string m_sort{ model::orderName(BlockOrder::Block) };
    model::SortBy<BlockOrder> m_order;
};

} // namespace

std::unique_ptr<Command> makeBlocks()
{
    return std::make_unique<Blocks>();
}

} // namespace strata::cli
