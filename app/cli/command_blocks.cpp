// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/json_writer.h"
#include "app/cli/row_labels.h"
#include "app/cli/row_table.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/wrap.h"

#include <fmt/format.h>

namespace strata::cli {

using model::BlockColumns;
using model::BlockId;
using model::DeviceTrace;

namespace {

bool isAlive(const BlockColumns& blocks, BlockId block, EventRange range)
{
    return blocks.birth(block) <= range.to && blocks.death(block) > range.from;
}

/// Calls `row` for the blocks of the range until the limit; says how many were left out.
template <class Row>
std::int64_t forEachBlock(
    const DeviceTrace& trace, EventRange range, std::int64_t limit, const Output& out, Row row)
{
    const BlockColumns& blocks = trace.blocks();
    std::int64_t leftOut = 0;
    for (std::uint32_t i = 0; i < blocks.size() && !out.closed(); ++i) {
        if (!isAlive(blocks, BlockId{ i }, range))
            continue;
        if (limit > 0) {
            row(BlockId{ i });
            --limit;
        } else
            ++leftOut;
    }
    return leftOut;
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
    const std::size_t row = block.index();
    const model::SegmentLife* segment = trace.segmentAt(blocks.address[row], blocks.birth(block));
    const model::StackId stack = blocks.stack[row];

    json.beginObject().member("block", block.value).member("address", blocks.address[row]);
    json.key("segment_address");
    if (segment)
        json.value(segment->address);
    else
        json.null();
    json.member("requested_bytes", blocks.requestedBytes[row]).key("rounded_bytes");
    if (blocks.rounding[row] != BlockColumns::kRoundingUnknown)
        json.value(model::wrapAdd(blocks.requestedBytes[row], blocks.rounding[row]));
    else
        json.null();
    json.key("stream").plain(labels.stream(blocks.stream[row]));
    json.key("pool").plain(labels.poolJson(blocks.pool[row]));
    writeEvent(json, "alloc_event", blocks.alloc[row]);
    writeEvent(json, "free_requested_event", blocks.freeRequested[row]);
    writeEvent(json, "free_completed_event", blocks.freeCompleted[row]);
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

void writeJson(
    Output& out, const std::string& file, const DeviceTrace& trace, EventRange range, const Options& options)
{
    RowLabels labels(trace.recording());
    JsonWriter json;
    json.beginObject().member("schema", 1).member("kind", "blocks").member("device", trace.device());
    json.member("file", file).member("from", range.from).member("to", range.to).endObject().endLine();
    forEachBlock(trace, range, rowLimit(options, out), out, [&](BlockId block) {
        writeRow(json, trace, labels, block, options.frames);
        if (json.text().size() >= kRowBuffer) {
            out.write(json.text());
            json.clear();
        }
    });
    out.write(json.text());
}

std::string eventName(model::EventId event, const char* none)
{
    return event.valid() ? model::formatCount(event.value) : none;
}

void printTable(Output& out, Output& err, const DeviceTrace& trace, EventRange range, std::int64_t limit)
{
    const BlockColumns& blocks = trace.blocks();
    RowLabels labels(trace.recording());
    RowTable table(out,
        { { "block", 9 }, { "address", 14 }, { "requested", 9 }, { "rounded", 9 }, { "stream", 6 },
            { "alloc", 10 }, { "free asked", 10 }, { "free done", 10 }, { "pool", 11, true } },
        "line");
    const std::int64_t leftOut = forEachBlock(trace, range, limit, out, [&](BlockId block) {
        const std::size_t row = block.index();
        const bool rounded = blocks.rounding[row] != BlockColumns::kRoundingUnknown;
        table.row(
            { model::formatCount(block.value), model::formatAddress(blocks.address[row]),
                model::formatBytes(blocks.requestedBytes[row]),
                rounded ? model::formatBytes(model::wrapAdd(blocks.requestedBytes[row], blocks.rounding[row]))
                        : "-",
                labels.stream(blocks.stream[row]), eventName(blocks.alloc[row], "before"),
                eventName(blocks.freeRequested[row], "-"), eventName(blocks.freeCompleted[row], "live"),
                labels.pool(blocks.pool[row]) },
            labels.line(blocks.stack[row]));
    });
    out.flush();
    sayLeftOut(err, leftOut);
}

} // namespace

model::Result<int> runBlocks(const std::string& file, const Options& options, Output& out, Output& err)
{
    const auto session = openSession(file, options.force, err);
    if (!session)
        return model::Failure(session.error());
    const auto trace = chooseDevice(**session, options.device);
    if (!trace)
        return model::Failure(trace.error());
    const auto range = parseRange(**trace, options);
    if (!range)
        return model::Failure(range.error());
    if (options.json)
        writeJson(out, file, **trace, *range, options);
    else
        printTable(out, err, **trace, *range, rowLimit(options, out));
    return kDone;
}

} // namespace strata::cli
