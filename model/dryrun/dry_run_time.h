// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// Operators of one kind in the step.
struct DryRunKind {
    std::string kind;
    std::int64_t calls = 0;
    std::int64_t launches = 0;
    std::int64_t flops = 0;
    std::int64_t bytes = 0;
    std::int64_t leastNs = 0;
    std::int64_t rooflineNs = 0;
};

struct DryRunUnknownOperator {
    std::string name;
    std::int64_t calls = 0;
    std::int64_t launches = 0;
};

/// What is in no figure, since nobody knows its cost.
struct DryRunUnknown {
    std::int64_t launches = 0;
    std::int64_t outsideLaunches = 0; ///< are among `launches`
    std::vector<DryRunUnknownOperator> operators;
};

struct DryRunCollective {
    std::string name;
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
};

struct DryRunCardTime {
    std::string name;
    std::int64_t leastNs = 0;
    bool fits = false;
};

struct DryRunTimeFigures {
    std::optional<std::int64_t> step;
    std::optional<int> rank;
    int devices = 1;
    std::int64_t leastNs = 0;
    std::int64_t rooflineNs = 0;
    std::int64_t flops = 0;
    std::int64_t flopsInFull = 0;
    std::int64_t bytes = 0;
    std::vector<DryRunKind> kinds;
    std::int64_t launches = 0;
    DryRunUnknown unknown;
    std::vector<DryRunCollective> collectives;
    std::optional<std::int64_t> cpuStepNs;
    std::int64_t stepsTimed = 0;
    std::vector<DryRunCardTime> cards;
};

/// How long a step takes at least: `strata dryrun --time`.
struct DryRunTime {
    std::string card;
    std::optional<std::string> problem;
    Inlined<DryRunTimeFigures> figures; ///< where there is no problem
};

template <> struct Fields<DryRunKind> {
    static constexpr std::tuple all{
        field("kind", Unit::None, "kind of operator", &DryRunKind::kind),
        field("calls", Unit::Count, "calls of such operators", &DryRunKind::calls),
        field("launches", Unit::Count, "kernels, copies and fills that they launched", &DryRunKind::launches),
        field(
            "flops", Unit::Count, "their FLOPs; of causal attention half, as it is done", &DryRunKind::flops),
        field("bytes", Unit::Bytes, "their operands and results", &DryRunKind::bytes),
        field("least_ns", Unit::Nanoseconds, "lower bound of their time", &DryRunKind::leastNs),
        field("roofline_ns", Unit::Nanoseconds, "the same if every operand comes from memory",
            &DryRunKind::rooflineNs),
    };
};

template <> struct Fields<DryRunUnknownOperator> {
    static constexpr std::tuple all{
        field("name", Unit::None, "name of the operator", &DryRunUnknownOperator::name),
        field("calls", Unit::Count, "its calls", &DryRunUnknownOperator::calls),
        field("launches", Unit::Count, "its launches", &DryRunUnknownOperator::launches),
    };
};

template <> struct Fields<DryRunUnknown> {
    static constexpr std::tuple all{
        field("launches", Unit::Count, "launches of unknown cost", &DryRunUnknown::launches),
        field("outside_launches", Unit::Count,
            "those among them that no operator made: replayed graphs, kernels of the program",
            &DryRunUnknown::outsideLaunches),
        field("operators", Unit::None, "operators of unknown cost, those with most launches first",
            &DryRunUnknown::operators),
    };
};

template <> struct Fields<DryRunCollective> {
    static constexpr std::tuple all{
        field("name", Unit::None, "name of the collective", &DryRunCollective::name),
        field("calls", Unit::Count, "its calls", &DryRunCollective::calls),
        field("bytes", Unit::Bytes, "bytes that this rank handed over", &DryRunCollective::bytes),
    };
};

template <> struct Fields<DryRunCardTime> {
    static constexpr std::tuple all{
        field("name", Unit::None, "name of the card", &DryRunCardTime::name),
        field(
            "least_ns", Unit::Nanoseconds, "lower bound of the step's time on it", &DryRunCardTime::leastNs),
        field("fits", Unit::None, "whether the program fits on it", &DryRunCardTime::fits),
    };
};

template <> struct Fields<DryRunTimeFigures> {
    static constexpr std::tuple all{
        field("step", Unit::Step, "the step; null: the whole program, which made no complete step",
            &DryRunTimeFigures::step),
        field("rank", Unit::None, "its rank; null: there is one process", &DryRunTimeFigures::rank),
        field("devices", Unit::Count, "devices of the process that share the work evenly",
            &DryRunTimeFigures::devices),
        field("least_ns", Unit::Nanoseconds, "lower bound of the step's time on `card`",
            &DryRunTimeFigures::leastNs),
        field("roofline_ns", Unit::Nanoseconds, "the same if every operand comes from memory",
            &DryRunTimeFigures::rooflineNs),
        field("flops", Unit::Count, "FLOPs; of causal attention half, as it is done",
            &DryRunTimeFigures::flops),
        field("flops_in_full", Unit::Count, "FLOPs as torch's counter counts them",
            &DryRunTimeFigures::flopsInFull),
        field("bytes", Unit::Bytes, "operands and results", &DryRunTimeFigures::bytes),
        field("kinds", Unit::None, "by kind of operator, the longest first", &DryRunTimeFigures::kinds),
        field("launches", Unit::Count, "kernels, copies and fills", &DryRunTimeFigures::launches),
        field("unknown", Unit::None, "work of unknown cost, which is in no figure",
            &DryRunTimeFigures::unknown),
        field("collectives", Unit::None, "collectives of NCCL, which are in no figure",
            &DryRunTimeFigures::collectives),
        field("cpu_step_ns", Unit::Nanoseconds,
            "median time of a step on this machine's CPU; null: no step was timed",
            &DryRunTimeFigures::cpuStepNs),
        field("steps_timed", Unit::Count, "steps of which `cpu_step_ns` is the median",
            &DryRunTimeFigures::stepsTimed),
        field("cards", Unit::None, "lower bounds on the cards whose peaks are known",
            &DryRunTimeFigures::cards),
    };
};

template <> struct Fields<DryRunTime> {
    static constexpr std::tuple all{
        field("card", Unit::None, "name of the simulated card", &DryRunTime::card),
        field("problem", Unit::None, "why the time is unknown, then no other key follows; null: it is known",
            &DryRunTime::problem),
        field("", Unit::None, "", &DryRunTime::figures),
    };
};

} // namespace strata::model
