// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/ledger/block_modules.h"
#include "model/tables/row_columns.h"
#include "model/tables/row_order.h"
#include "model/timeline/clock.h"
#include "model/trace/rounded_sizes.h"

namespace strata::model {

/// What rows of blocks can be put in order by, and the columns of the window in its order.
enum class BlockOrder : std::uint8_t {
    Block,
    Requested,
    Rounded,
    Line, ///< its label
    Category, ///< in the order of categories
    Module, ///< its name; blocks without one come last
    Born,
    FreeRequested,
    Freed,
    Lifetime, ///< in events, as far as the trace sees it
    Duration, ///< in time; the window has it instead of Lifetime on the axis of time
    Stream,
    Pool, ///< its label
    Address,
    Segment,
};

/// What rows of blocks are read from; all that it points to must outlive it.
struct BlockSource {
    const DeviceTrace* trace;
    RoundedSizes sizes;
    const Categories* categories = nullptr; ///< nullptr: not known
    const DeviceTrace* categorised = nullptr; ///< that they are of: `trace`, or an earlier generation of it
    const Clock* clock = nullptr; ///< for Duration alone
    bool frames = false; ///< JSON has whole stacks
};

struct BlockRow {
    const BlockSource* in;
    BlockId block;

    [[nodiscard]] const DeviceTrace& trace() const { return *in->trace; }
    [[nodiscard]] const Recording& recording() const { return trace().recording(); }
    [[nodiscard]] const BlockColumns& blocks() const { return trace().blocks(); }
    [[nodiscard]] StackId stack() const { return blocks().stack[block]; }
    /// nullptr: its category is not known.
    [[nodiscard]] const BlockCategory* category() const
    {
        return in->categories && in->categorised->blocks().contains(block) ? &in->categories->of(block)
                                                                           : nullptr;
    }
    /// The first that the program told of in it; nullptr: none.
    [[nodiscard]] const RoleListing* tensor() const
    {
        if (category() == nullptr)
            return nullptr;
        const ListedTensors& tensors = in->categories->tensors();
        const auto held = tensors.in(block);
        return held.empty() ? nullptr : &tensors.listing(held.front());
    }
    [[nodiscard]] std::optional<std::string_view> module() const
    {
        const std::string_view path = category() == nullptr
            ? std::string_view()
            : moduleOf(*in->categorised, in->categories->tensors(), block);
        return path.empty() ? std::nullopt : std::optional(path);
    }
};

template <> struct Fields<BlockRow> {
    static constexpr std::tuple all{
        column(BlockOrder::Block,
            field("block", Unit::None,
                "number of the block, in the order of allocation; below 0: allocated before recording",
                [](const BlockRow& row) { return row.block.value; }),
            { .sort = "block",
                .title = English("Block"),
                .tip = English(
                    "Number of the block: lifetimes in order of birth; below 0: older than the trace") }),
        column(BlockOrder::Address,
            field("address", Unit::None, "where the block begins; addresses are used again",
                [](const BlockRow& row) { return Address{ row.blocks().address[row.block] }; }),
            { .sort = "address",
                .title = English("Address"),
                .tip = English("Where the block begins. Addresses are used again: see born and freed") }),
        column(BlockOrder::Segment,
            field("segment_address", Unit::None,
                "address of the segment that holds the block; null: not recorded",
                [](const BlockRow& row) {
                    const BlockColumns& blocks = row.blocks();
                    const SegmentLife* const segment
                        = row.trace().segmentAt(blocks.address[row.block], blocks.birth(row.block));
                    return segment ? std::optional(Address{ segment->address }) : std::nullopt;
                }),
            { .sort = "segment",
                .title = English("Segment"),
                .tip = English("Address of the segment that holds the block") }),
        column(BlockOrder::Requested,
            field("requested_bytes", Unit::Bytes, "size that the program requested",
                [](const BlockRow& row) { return row.blocks().requestedBytes[row.block]; }),
            { .sort = "requested",
                .title = English("Requested"),
                .tip = English("What the program asked for") }),
        column(BlockOrder::Rounded,
            field("rounded_bytes", Unit::Bytes,
                "size that the allocator handed out; null: not known, see `--replay`",
                [](const BlockRow& row) { return row.in->sizes.bytes(row.block); }),
            { .sort = "rounded",
                .title = English("Rounded"),
                .tip = English("What the allocator handed out") }),
        column(BlockOrder::Stream,
            field("stream", Unit::None, "handle of the CUDA stream of the allocation; null: not known",
                [](const BlockRow& row) {
                    return StreamIn{ &row.recording(), row.blocks().stream[row.block] };
                }),
            { .sort = "stream",
                .title = English("Stream"),
                .tip = English("CUDA stream of the allocation") }),
        column(BlockOrder::Pool,
            field("pool", Unit::None,
                "pool of the caching allocator: `small`, `large`, `unknown`, or `(0,1)/large` of a private "
                "one",
                [](const BlockRow& row) {
                    return PoolIn{ &row.recording(), row.blocks().pool[row.block] };
                }),
            { .sort = "pool",
                .text = true,
                .title = English("Pool"),
                .tip = English("Pool of the caching allocator") }),
        column(BlockOrder::Born,
            field("alloc_event", Unit::Event,
                "event that allocates the block; null: allocated before recording",
                [](const BlockRow& row) { return numberOf(row.blocks().allocOf(row.block)); }),
            { .sort = "born",
                .heading = "alloc",
                .title = English("Born"),
                .tip = English("When the block was allocated") }),
        column(BlockOrder::FreeRequested,
            field("free_requested_event", Unit::Event,
                "event in which the program frees the block; null: none was recorded",
                [](const BlockRow& row) { return numberOf(row.blocks().freeRequested[row.block]); }),
            { .sort = "free_requested",
                .heading = "free asked",
                .title = English("Free requested"),
                .tip = English("When the program gave the block back (free_requested)") }),
        column(BlockOrder::Freed,
            field("free_completed_event", Unit::Event,
                "event after which the memory can be used again; null: still live at the end",
                [](const BlockRow& row) { return numberOf(row.blocks().freeCompleted[row.block]); }),
            { .sort = "freed",
                .heading = "free done",
                .title = English("Freed"),
                .tip = English("When the memory could be used again (free_completed)") }),
        column(field("stack_id", Unit::None,
                   "number of the stack trace of the allocation; null: none was recorded",
                   [](const BlockRow& row) { return numberOf(row.stack()); }),
            { .csv = "stack" }),
        column(BlockOrder::Line,
            field("line", Unit::None, "innermost line of your own code in that stack trace; null: none",
                [](const BlockRow& row) {
                    return LineIn{ &row.recording(), row.stack() };
                }),
            { .sort = "line",
                .text = true,
                .title = English("Line"),
                .tip = English("Innermost frame of your own code at the allocation") }),
        column(BlockOrder::Category,
            field("category", Unit::None, "what the block is for, as in `ledger`",
                [](const BlockRow& row) {
                    const BlockCategory* const is = row.category();
                    return is ? std::optional(categoryWord(is->category)) : std::nullopt;
                }),
            { .sort = "category",
                .text = true,
                .title = English("Category"),
                .tip = English("What the block is for, and what told it: see its details") }),
        column(field("category_source", Unit::None, "`recorded` or `inferred`",
            [](const BlockRow& row) {
                const BlockCategory* const is = row.category();
                return is ? std::optional<std::string_view>(is->recorded ? "recorded" : "inferred")
                          : std::nullopt;
            })),
        column(field("category_rule", Unit::None, "rule that decided the category",
            [](const BlockRow& row) {
                const BlockCategory* const is = row.category();
                return is ? std::optional(ruleWord(is->rule)) : std::nullopt;
            })),
        column(field("certainty", Unit::None,
            "of the category: `recorded`, `shown_by_stack`, `likely` or `unknown`",
            [](const BlockRow& row) {
                const BlockCategory* const is = row.category();
                return is ? std::optional(certaintyWord(is->certainty())) : std::nullopt;
            })),
        column(BlockOrder::Module,
            field("module", Unit::None, "path of the module that the block belongs to; null: none is known",
                &BlockRow::module),
            { .sort = "module",
                .text = true,
                .title = English("Module"),
                .tip = English("Whose forward asked for it, or whose tensor lies in it") }),
        field("tensor", Unit::None, "name of a tensor of the program in the block, where one is known",
            [](const BlockRow& row) {
                const RoleListing* const tensor = row.tensor();
                return textIfAny(row.recording(), tensor ? tensor->name : StringId());
            }),
        field("tensor_part", Unit::None, "part of an optimizer's state that the tensor is, where it is one",
            [](const BlockRow& row) {
                const RoleListing* const tensor = row.tensor();
                return textIfAny(row.recording(), tensor ? tensor->part : StringId());
            }),
        field("frames", Unit::None, "the stack trace, innermost frame first; with `--frames`",
            [](const BlockRow& row) {
                return LeftOutWhereNone<FramesIn>{
                    row.in->frames ? std::optional(FramesIn{ &row.recording(), row.stack() }) : std::nullopt
                };
            }),
    };
};

template <> struct ColumnsBy<BlockOrder> {
    static constexpr auto kTip
        = English("From born to freed; \"over\" where one of them lies outside the trace");
    static constexpr auto all = std::tuple_cat(Fields<BlockRow>::all,
        std::tuple{
            column(BlockOrder::Lifetime,
                field("", Unit::Count, "",
                    [](const BlockRow& row) { return lifetimeEvents(row.trace(), row.block); }),
                { .sort = "lifetime",
                    .sortNote = "in events",
                    .title = English("Lifetime (events)"),
                    .tip = kTip }),
            column(BlockOrder::Duration,
                field("", Unit::Nanoseconds, "",
                    [](const BlockRow& row) { return lifetimeNs(row.trace(), row.block, *row.in->clock); }),
                { .sort = "duration", .sortNote = "in time", .title = English("Lifetime"), .tip = kTip }),
        });
};

} // namespace strata::model
