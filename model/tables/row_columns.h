// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/sentence.h"
#include "model/trace/recording.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace strata::model {

/// The columns of blocks (block_columns.h) and of events (event_columns.h), once for JSON, CSV, the terminal,
/// the window and --sort. Fields<Row>::all holds them in the order of JSON; those that are more
/// than a key of JSON are RowColumns. `Order` numbers those that rows can be put in order by, in the order of
/// --sort's help.

/// What a column is called outside of JSON. Empty: see there, or it has none.
struct ColumnNames {
    std::string_view sort = {}; ///< of --sort
    std::string_view sortNote = {}; ///< beside it in the help
    std::string_view heading = {}; ///< in the terminal; empty: `sort`
    std::string_view csv = {}; ///< empty: the key of JSON
    int csvPlace = 0; ///< 0 to 2: CSV has columns of a higher place behind those of lower ones
    bool text = false; ///< stands at the left; figures stand at the right
    English title = {}; ///< in the window
    English tip = {}; ///< of the title

    [[nodiscard]] constexpr std::string_view inTerminal() const { return heading.empty() ? sort : heading; }
};

struct NoOrder { };

template <class Get, class Order> struct RowColumn : Field<Get> {
    Order order; ///< NoOrder: --sort does not know it
    ColumnNames names;
};

template <class Order, class Get>
[[nodiscard]] constexpr RowColumn<Get, Order> column(Order order, Field<Get> field, ColumnNames names)
{
    return { field, order, names };
}
/// In JSON and CSV alone.
template <class Get>
[[nodiscard]] constexpr RowColumn<Get, NoOrder> column(Field<Get> field, ColumnNames names = {})
{
    return { field, {}, names };
}

template <class Order> struct ColumnsBy; ///< says in `all` the columns of an Order, and maybe more

template <class Column, class Order> inline constexpr bool kHasOrder = false;
template <class Get, class Order> inline constexpr bool kHasOrder<RowColumn<Get, Order>, Order> = true;

template <auto order> [[nodiscard]] consteval std::size_t placeOfColumn()
{
    const auto isIt = []<class Column>(const Column& column) {
        if constexpr (kHasOrder<Column, decltype(order)>)
            return column.order == order;
        else
            return false;
    };
    std::size_t place = 0;
    std::apply([&](const auto&... each) { (void)((isIt(each) || (++place, false)) || ...); },
        ColumnsBy<decltype(order)>::all);
    return place;
}

/// What a row has in the column of an order.
template <auto order, class Row> [[nodiscard]] decltype(auto) valueOf(const Row& row)
{
    return std::get<placeOfColumn<order>()>(ColumnsBy<decltype(order)>::all).of(row);
}

template <class Order> [[nodiscard]] consteval auto namesInOrder()
{
    return std::apply(
        []<class... Column>(const Column&... columns) {
            std::array<ColumnNames, (std::size_t{ kHasOrder<Column, Order> } + ...)> names;
            const auto take = [&](const auto& column) {
                if constexpr (kHasOrder<std::remove_cvref_t<decltype(column)>, Order>)
                    names[static_cast<std::size_t>(column.order)] = column.names;
            };
            (take(columns), ...);
            return names;
        },
        ColumnsBy<Order>::all);
}
/// By Order.
template <class Order> inline constexpr auto kColumnNames = namesInOrder<Order>();

template <class Order> [[nodiscard]] constexpr const ColumnNames& namesOf(Order order)
{
    return kColumnNames<Order>[static_cast<std::size_t>(order)];
}

/// The columns of CSV in its order.
template <HasFields Row, class Each> constexpr void forEachCsvColumn(Each&& each)
{
    const auto eachOf = [&](int place) {
        forEachField<Row>([&](const auto& field) {
            if constexpr (requires { field.names; })
                if (field.names.csvPlace == place)
                    each(field);
        });
    };
    eachOf(0);
    eachOf(1);
    eachOf(2);
}

/// Values that each medium writes in its own way.

struct Address {
    std::uint64_t value;
};

struct StreamIn {
    const Recording* recording;
    StreamIndex stream;

    [[nodiscard]] std::optional<std::int64_t> handle() const
    {
        return stream < recording->streams.size() ? std::optional(recording->streams[stream]) : std::nullopt;
    }
};

/// Known by poolLabel().
struct PoolIn {
    const Recording* recording;
    PoolIndex pool;
};

/// A stack, known by the label of its userFrame().
struct LineIn {
    const Recording* recording;
    StackId stack;
};

/// The frames of a stack.
struct FramesIn {
    const Recording* recording;
    StackId stack;
};

/// The number of what has one.
template <class Tag> [[nodiscard]] std::optional<std::uint32_t> numberOf(Id<Tag> id)
{
    return id.valid() ? std::optional(id.value) : std::nullopt;
}

[[nodiscard]] inline LeftOutWhereNone<std::string_view> textIfAny(const Recording& recording, StringId text)
{
    return { text.valid() ? std::optional(recording.strings[text]) : std::nullopt };
}

} // namespace strata::model
