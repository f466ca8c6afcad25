// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/tables/row_command.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "model/analysis/allocator/replay.h"
#include "model/analysis/training/ledger/block_modules.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/tables/row_order.h"
#include "model/trace/rounded_sizes.h"

#include <CLI/CLI.hpp>

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

std::string eventName(model::EventId event, const char* none)
{
    return event.valid() ? model::formatCount(event.value) : none;
}

class Blocks final : public RowCommand {
public:
    Blocks()
        : RowCommand("blocks", "Every block with its life, one row each",
            { "Only blocks that are alive at or after this position", "... and at or before this one",
                "block (default), requested, rounded, line, category, module, born, free_requested, freed, "
                "lifetime (in events), duration (in time), stream, pool, address or segment; -requested: the "
                "largest "
                "first. Blocks without one come last",
                std::string(model::orderName(BlockOrder::Block)) })
    {
    }

protected:
    model::Result<void> setOrder(std::string_view name) override
    {
        const auto order = model::blockOrderFromName(name);
        if (!order)
            return model::Failure(order.error());
        m_order = *order;
        return {};
    }

    std::vector<std::uint32_t> rowsOf(const DeviceTrace& trace, EventRange range,
        const std::vector<model::BlockFilter>& filters) const override
    {
        const auto matchers = matchersOf<model::BlockMatcher>(trace, filters, m_labels);
        const BlockColumns& blocks = trace.blocks();
        std::vector<std::uint32_t> rows;
        for (std::uint32_t row = 0; row < blocks.size(); ++row) {
            const BlockId block = blocks.at(row);
            if (isAlive(blocks, block, range) && matchesAll(matchers, block))
                rows.push_back(row);
        }
        if (m_order != model::SortBy<BlockOrder>{})
            model::sortRows(
                rows, model::rowKey(trace, m_order.order, sizesOf(trace), m_labels), m_order.descending);
        return rows;
    }

    model::StackId stackOf(const DeviceTrace& trace, std::uint32_t row) const override
    {
        return trace.blocks().stack[trace.blocks().at(row)];
    }

    void writeRow(
        JsonWriter& json, const DeviceTrace& trace, RowLabels& labels, std::uint32_t row) const override
    {
        const BlockColumns& blocks = trace.blocks();
        const BlockId block = blocks.at(row);
        const model::SegmentLife* segment = trace.segmentAt(blocks.address[block], blocks.birth(block));
        const model::StackId stack = blocks.stack[block];

        json.member("block", block.value).member("address", blocks.address[block]);
        json.key("segment_address");
        if (segment)
            json.value(segment->address);
        else
            json.null();
        json.member("requested_bytes", blocks.requestedBytes[block]).key("rounded_bytes");
        json.value(sizesOf(trace).bytes(block));
        json.key("stream").plain(labels.stream(blocks.stream[block]));
        json.key("pool").plain(labels.poolJson(blocks.pool[block]));
        writeId(json, "alloc_event", blocks.allocOf(block));
        writeId(json, "free_requested_event", blocks.freeRequested[block]);
        writeId(json, "free_completed_event", blocks.freeCompleted[block]);
        writeId(json, "stack_id", stack);
        json.key("line").plain(labels.lineJson(stack));
        writePurpose(json, trace, block);
    }

    std::vector<RowTable::Column> columns() const override
    {
        return { { "block", 9 }, { "address", 14 }, { "requested", 9 }, { "rounded", 9 }, { "stream", 6 },
            { "alloc", 10 }, { "free asked", 10 }, { "free done", 10 }, { "pool", 11, true } };
    }

    void printRow(
        RowTable& table, const DeviceTrace& trace, RowLabels& labels, std::uint32_t row) const override
    {
        const BlockColumns& blocks = trace.blocks();
        const BlockId block = blocks.at(row);
        const auto rounded = sizesOf(trace).bytes(block);
        table.row({ model::formatCount(block.value), model::formatAddress(blocks.address[block]),
                      model::formatBytes(blocks.requestedBytes[block]),
                      rounded ? model::formatBytes(*rounded) : "-", labels.stream(blocks.stream[block]),
                      eventName(blocks.allocOf(block), "before"), eventName(blocks.freeRequested[block], "-"),
                      eventName(blocks.freeCompleted[block],
                          blocks.pendingSince(block) != BlockColumns::kNever ? "pending" : "live"),
                      labels.pool(blocks.pool[block]) },
            labels.line(blocks.stack[block]));
    }

    void declareMore(CLI::App& app) override
    {
        app.add_flag("--replay", m_replay,
            "Replays PyTorch's allocator, which tells the rounded size of every block where the replay is "
            "exact; else those of the end alone are known");
        m_training.declare(app);
    }

    model::Result<void> checkMore() override { return m_training.check(); }

    model::Result<void> prepare(const DeviceTrace& trace, bool json, Output& err) override
    {
        const bool byLabels
            = m_order.order == BlockOrder::Category || m_order.order == BlockOrder::Module || asksForLabels();
        if (json || byLabels) {
            auto training = m_training.of(trace);
            if (!training)
                return model::Failure(training.error());
            m_categories = std::move(training->categories);
            m_training.tell(trace, err);
        }
        if (byLabels)
            m_labels = model::deviceLabels(trace, m_categories);
        if (!m_replay)
            return {};
        auto report = model::checkReplay(trace);
        if (!report)
            return model::Failure(report.error());
        m_report = std::move(*report);
        if (!m_report->exact())
            err.line(
                "The replay is not exact, so that rounded sizes are known of blocks alive at the end alone: "
                + printable(m_report->reason().text()));
        return {};
    }

private:
    /// What the block is for, what told it, whose it is, and the tensor that the program told of.
    void writePurpose(JsonWriter& json, const DeviceTrace& trace, BlockId block) const
    {
        const model::BlockCategory& category = m_categories.of(block);
        json.member("category", model::categoryWord(category.category));
        json.member("category_source", category.recorded ? "recorded" : "inferred");
        json.member("category_rule", model::ruleWord(category.rule)).key("module");
        const model::ListedTensors& tensors = m_categories.tensors();
        if (const std::string_view module = model::moduleOf(trace, tensors, block); !module.empty())
            json.value(module);
        else
            json.null();
        const auto in = tensors.in(block);
        const model::RoleListing none, &tensor = in.empty() ? none : tensors.listing(in.front());
        const auto text = [&](const char* key, model::StringId id) {
            if (id.valid())
                json.member(key, trace.recording().strings[id]);
        };
        text("tensor", tensor.name);
        text("tensor_part", tensor.part);
    }

    [[nodiscard]] model::RoundedSizes sizesOf(const DeviceTrace& trace) const
    {
        return model::RoundedSizes(
            trace, m_report && m_report->exact() ? &m_report->check.rounding : nullptr);
    }

    model::SortBy<BlockOrder> m_order;
    bool m_replay = false;
    TrainingOption m_training;
    model::Categories m_categories; // with --json, or where rows are chosen or ordered by them
    model::DeviceLabels m_labels; // in the latter cases
    std::optional<model::ReplayReport> m_report;
};

} // namespace

std::unique_ptr<Command> makeBlocks()
{
    return std::make_unique<Blocks>();
}

} // namespace strata::cli
