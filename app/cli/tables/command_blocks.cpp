// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/tables/row_command.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "model/analysis/allocator/replay.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/tables/block_columns.h"

#include <CLI/CLI.hpp>

namespace strata::cli {

using model::BlockColumns;
using model::BlockId;
using model::BlockOrder;
using model::DeviceTrace;
using model::valueOf;

namespace {

bool isAlive(const BlockColumns& blocks, BlockId block, EventRange range)
{
    return blocks.birth(block) <= range.to && blocks.death(block) > range.from;
}

std::string eventName(std::optional<std::uint32_t> event, const char* none)
{
    return event ? model::formatCount(*event) : none;
}

class Blocks final : public RowCommand {
public:
    Blocks()
        : RowCommand("blocks", "Every block with its life, one row each",
            { "Only blocks that are alive at or after this position", "... and at or before this one",
                model::kColumnNames<BlockOrder>,
                "-requested: the largest first. Blocks without one come last" })
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
            model::sortRows(rows, model::rowKey(*m_source, m_order.order, m_labels), m_order.descending);
        return rows;
    }

    void writeRow(JsonWriter& json, const RowLabels& labels, std::uint32_t row) const override
    {
        writeJson(json, rowAt(row), labels);
    }

    std::vector<RowTable::Column> columns() const override
    {
        using enum BlockOrder;
        return { tableColumn(Block, 9), tableColumn(Address, 14), tableColumn(Requested, 9),
            tableColumn(Rounded, 9), tableColumn(Stream, 6), tableColumn(Born, 10),
            tableColumn(FreeRequested, 10), tableColumn(Freed, 10), tableColumn(Pool, 11),
            tableColumn(Line) };
    }

    void printRow(RowTable& table, const RowLabels& labels, std::uint32_t at) const override
    {
        using enum BlockOrder;
        const model::BlockRow row = rowAt(at);
        const auto rounded = valueOf<Rounded>(row);
        const bool pending = row.blocks().pendingSince(row.block) != BlockColumns::kNever;
        table.row(
            { model::formatCount(valueOf<Block>(row)), model::formatAddress(valueOf<Address>(row).value),
                model::formatBytes(valueOf<Requested>(row)), rounded ? model::formatBytes(*rounded) : "-",
                labels.stream(valueOf<Stream>(row).stream), eventName(valueOf<Born>(row), "before"),
                eventName(valueOf<FreeRequested>(row), "-"),
                eventName(valueOf<Freed>(row), pending ? "pending" : "live"),
                labels.pool(valueOf<Pool>(row).pool) },
            labels.line(valueOf<Line>(row).stack));
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
        if (m_replay) {
            auto report = model::checkReplay(trace);
            if (!report)
                return model::Failure(report.error());
            m_report = std::move(*report);
            if (!m_report->exact())
                err.line("The replay is not exact, so that rounded sizes are known of blocks alive at the "
                         "end alone: "
                    + printable(m_report->reason().text()));
        }
        const bool exact = m_report && m_report->exact();
        m_source.emplace(model::BlockSource{ .trace = &trace,
            .sizes = model::RoundedSizes(trace, exact ? &m_report->check.rounding : nullptr),
            .categories = json || byLabels ? &m_categories : nullptr,
            .categorised = &trace,
            .frames = withFrames() });
        return {};
    }

private:
    [[nodiscard]] model::BlockRow rowAt(std::uint32_t row) const
    {
        return { &*m_source, m_source->trace->blocks().at(row) };
    }

    model::SortBy<BlockOrder> m_order;
    bool m_replay = false;
    TrainingOption m_training;
    model::Categories m_categories; // with --json, or where rows are chosen or ordered by them
    model::DeviceLabels m_labels; // in the latter cases
    std::optional<model::ReplayReport> m_report;
    std::optional<model::BlockSource> m_source; // once prepared
};

} // namespace

std::unique_ptr<Command> makeBlocks()
{
    return std::make_unique<Blocks>();
}

} // namespace strata::cli
