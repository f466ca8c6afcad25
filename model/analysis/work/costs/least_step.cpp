// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/least_step.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace strata::model {

namespace {

template <class Row> void addOperator(Row& row, const LaunchedOperator& each)
{
    row.calls += each.calls;
    row.launches += each.launches;
}

/// The profiler tells the type of a list of tensors nowhere, a dry run does.
std::optional<OperatorInputs> inputsOf(const LaunchedOperator& each)
{
    auto inputs = readOperatorInputs(each.shapes, each.types, each.values, each.strides);
    const auto lists = nlohmann::json::parse(each.listTypes, nullptr, false);
    for (std::size_t i = 0;
         inputs && lists.is_array() && i < std::min(inputs->arguments.size(), lists.size()); ++i) {
        OperatorArgument& argument = inputs->arguments[i];
        const auto& types = lists[i];
        if (!argument.isList || !types.is_array() || types.size() != argument.tensors.size())
            continue;
        for (std::size_t k = 0; k < types.size(); ++k) {
            if (types[k].is_string())
                argument.tensors[k].type = elementTypeOf(types[k].get<std::string>());
        }
    }
    return inputs;
}

} // namespace

LeastStep leastStepOn(const LaunchedStep& step, const Card& card, int devices)
{
    LeastStep out;
    std::map<CostKind, LeastKind> kinds;
    std::map<std::string, UnknownOperator> unknown;
    std::int64_t launches = 0;
    for (const LaunchedOperator& each : step.operators) {
        launches += each.launches;
        const auto inputs = inputsOf(each);
        const auto cost = inputs ? costOf(each.name, *inputs) : std::nullopt;
        if (!cost) {
            UnknownOperator& row = unknown[each.name];
            row.name = each.name;
            addOperator(row, each);
            continue;
        }
        LeastKind& row = kinds[cost->kind];
        row.kind = cost->kind;
        addOperator(row, each);
        const auto calls = static_cast<double>(each.calls);
        row.flops += calls * cost->doneFlops;
        row.flopsInFull += calls * cost->flops;
        row.bytes += calls * cost->bytes();
        row.leastNs += calls / std::max(devices, 1) * model::leastNs(*cost, card);
        row.rooflineNs += calls / std::max(devices, 1) * model::rooflineNs(*cost, card);
    }
    for (const auto& [kind, row] : kinds) {
        out.leastNs += row.leastNs;
        out.rooflineNs += row.rooflineNs;
        out.flops += row.flops;
        out.flopsInFull += row.flopsInFull;
        out.bytes += row.bytes;
        out.kinds.push_back(row);
    }
    std::ranges::stable_sort(out.kinds, std::ranges::greater(), &LeastKind::leastNs);
    for (auto& [name, row] : unknown) {
        out.unknownLaunches += row.launches;
        out.unknown.push_back(std::move(row));
    }
    std::ranges::stable_sort(out.unknown, std::ranges::greater(), &UnknownOperator::launches);
    out.outsideLaunches = std::max<std::int64_t>(step.launches - launches, 0);
    out.unknownLaunches += out.outsideLaunches;
    return out;
}

} // namespace strata::model
