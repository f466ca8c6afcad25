// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/optimizer.h"

#include "model/base/wrap.h"
#include "model/whatif/evidence/optimizer_match.h"
#include "model/whatif/kinds/gradient_moments.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

namespace strata::model {

class RewriteMaker {
public:
    /// Without a choice: each optimizer as it was recorded.
    RewriteMaker(const RecordedRun& run, std::optional<OptimizerChoice> choice, RecordedOptimizers recorded,
        const ShardOf& shardOf, std::optional<GradientMoments> moments = {})
        : m_choice(std::move(choice))
        , m_shardOf(shardOf)
        , m_moments(std::move(moments))
        , m_version(run.report->version)
        , m_did(recordedParts(*run.trace, recorded))
    {
        m_rewrite.m_trace = run.trace;
        m_rewrite.m_recorded = std::move(recorded);
        for (const RecordedOptimizer& optimizer : all())
            m_rewrite.m_names.push_back(m_choice && !isOnHost() ? m_choice->name : optimizer.name);
    }

    Result<OptimizerRewrite> make()
    {
        for (std::size_t i = 0; i < all().size(); ++i)
            m_matches.push_back(matchOptimizer(all()[i], m_did[i]));
        m_rewrite.m_changesNothing = true;
        const auto unknown = std::ranges::find(m_matches, false, &OptimizerMatch::known);
        if (!m_choice && unknown != m_matches.end())
            return fail(Error::Kind::Refused,
                say("%1, which was recorded, does not do what is known of it: what it would do with a part "
                    "of the parameters is not known",
                    all()[static_cast<std::size_t>(unknown - m_matches.begin())].name),
                say("name an optimizer, too: --change optimizer=AdamW"));
        const bool groupsShow = std::ranges::all_of(m_matches, &OptimizerMatch::groupsShow);
        const bool decays = std::ranges::all_of(m_matches, &OptimizerMatch::decays);
        const OptimizerTemplate* const decaying = m_choice ? m_choice->decaying : nullptr;
        const OptimizerTemplate* const likely = !m_choice ? nullptr
            : decays && decaying != nullptr               ? decaying
                                                          : m_choice->made;
        if (!add(likely, false, true))
            return fail(Error::Kind::Refused,
                say("parameters of the recording begin to have gradients in steps of their own, and what %1 "
                    "does "
                    "then is not known",
                    m_choice ? m_choice->name : all().front().name),
                say("record the program with that optimizer"));
        if (!m_rewrite.m_changesNothing) {
            m_decayOpen = decaying != nullptr && !decays && add(decaying, false, false);
            m_groupsOpen = !groupsShow && add(likely, true, false);
        }
        sumUp();
        giveReason(m_version);
        return std::move(m_rewrite);
    }

private:
    [[nodiscard]] bool isOnHost() const
    {
        return m_choice && m_choice->made == &OptimizerTemplates::onHost();
    }
    [[nodiscard]] const std::vector<RecordedOptimizer>& all() const { return m_rewrite.m_recorded.all; }

    using Way = OptimizerRewrite::Way;
    using Placed = OptimizerRewrite::Placed;

    /// One more way; without a template as each was recorded. False: it is a known one, or nothing tells what
    /// it comes to.
    bool add(const OptimizerTemplate* chosen, bool apart, bool isLikeliest)
    {
        auto way = m_moments ? wayInBackward(*chosen) : wayOf(chosen, apart, isLikeliest);
        if (!way)
            return false;
        const auto isSame = [&](const Way& other) {
            return std::ranges::equal(
                *way, other, [](const auto& a, const auto& b) { return a.events == b.events; });
        };
        if (std::ranges::any_of(m_rewrite.m_ways, isSame))
            return false;
        m_rewrite.m_ways.push_back(std::move(*way));
        return true;
    }

    std::optional<Way> wayOf(const OptimizerTemplate* chosen, bool apart, bool isLikeliest)
    {
        Way way;
        for (std::uint32_t i = 0; i < all().size(); ++i) {
            const RecordedOptimizer& optimizer = all()[i];
            std::vector<std::uint32_t> groups = m_matches[i].groups;
            if (apart) {
                groups.resize(optimizer.parameters.size());
                std::iota(groups.begin(), groups.end(), 0U);
            }
            const OptimizerTemplate& made = chosen != nullptr ? *chosen : *m_matches[i].made;
            const std::int64_t least = chosen != nullptr ? m_choice->least : m_matches[i].least;
            const OptimizerShard shard
                = m_shardOf ? m_shardOf(optimizer, groups) : OptimizerShard{ optimizer, std::move(groups) };
            auto parts = model::partsOf(made, shard.optimizer, shard.groups, least);
            if (!parts)
                return std::nullopt;
            if (isLikeliest && (!m_matches[i].known || *parts != m_did[i]))
                m_rewrite.m_changesNothing = false;
            for (std::size_t part = 0; part < parts->size(); ++part)
                way.push_back(placed(shard.optimizer, i, part, std::move((*parts)[part])));
            if (auto end = endOf(i, way))
                way.push_back(std::move(*end));
        }
        std::ranges::stable_sort(way, {}, &Placed::before);
        return way;
    }

    /// An optimizer for each parameter, which steps as its gradient comes; so each is a group of its own.
    std::optional<Way> wayInBackward(const OptimizerTemplate& made)
    {
        struct Own {
            Placed placed;
            std::uint32_t parameter = 0;
        };
        std::vector<Own> owns;
        m_rewrite.m_changesNothing = false;
        m_rewrite.m_zeroed.resize(m_rewrite.m_trace->blocks().bornCount());
        for (std::uint32_t i = 0; i < all().size(); ++i)
            for (std::uint32_t index = 0; index < all()[i].parameters.size(); ++index) {
                const RecordedOptimizer one = aloneOf(all()[i], index);
                auto parts = model::partsOf(made, one, { 0 }, m_choice->least);
                if (!parts)
                    return std::nullopt;
                for (std::size_t part = 0; part < parts->size(); ++part) {
                    Own own{ placed(one, i, part, std::move((*parts)[part])), index };
                    const auto moment = part > 0 ? m_moments->find({ i, part - 1, index }) : m_moments->end();
                    if (moment != m_moments->end()) {
                        own.placed.before = moment->second.ready;
                        own.placed.gradient = moment->second.block;
                        m_rewrite.m_zeroed[moment->second.block] = true;
                    }
                    owns.push_back(std::move(own));
                }
            }
        std::ranges::stable_sort(owns, {}, [](const Own& own) { return own.placed.before; });
        // Blocks are counted in the order in which they are asked for, over all parameters.
        std::vector<std::uint32_t> asked(all().size());
        std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> blocks;
        Way way;
        for (Own& own : owns) {
            const auto known = [&](std::uint32_t block) -> std::uint32_t& {
                return blocks[{ own.placed.optimizer, own.parameter, block }];
            };
            for (OptimizerEvent& event : own.placed.events) {
                if (event.alloc)
                    known(event.block) = asked[own.placed.optimizer]++;
                event.block = known(event.block);
            }
            for (PutOptimizers::State& state : own.placed.states)
                state.block = known(state.block);
            way.push_back(std::move(own.placed));
        }
        for (std::uint32_t i = 0; i < all().size(); ++i)
            if (auto end = endOf(i, way))
                way.push_back(std::move(*end));
        std::ranges::stable_sort(way, {}, &Placed::before);
        return way;
    }

    /// An optimizer over one of the parameters.
    static RecordedOptimizer aloneOf(const RecordedOptimizer& all, std::uint32_t index)
    {
        RecordedOptimizer one = all;
        one.parameters = { all.parameters[index] };
        one.names = { all.names[index] };
        for (RecordedOptimizer::Step& step : one.steps)
            step.having = std::ranges::find(step.having, index) != step.having.end()
                ? std::vector<std::uint32_t>{ 0 }
                : std::vector<std::uint32_t>{};
        return one;
    }

    /// A part of what the optimizer of that number asks for, where that has its step. `of`: what the part is
    /// of.
    Placed placed(const RecordedOptimizer& of, std::uint32_t number, std::size_t part,
        std::vector<OptimizerEvent> events) const
    {
        const RecordedOptimizer& optimizer = all()[number];
        auto states
            = statesAmong(events, m_rewrite.m_names[number], of, m_rewrite.m_trace->recording().strings);
        for (PutOptimizers::State& state : states) // recorders look at the end of a step
            state.told = optimizer.steps[part == 0 ? 0 : part - 1].end;
        return { part == 0 ? optimizer.made : optimizer.steps[part - 1].begin, number, std::move(events),
            std::move(states) };
    }

    /// Where the optimizer of that number is let go of, with what it still has of all that it asks for; none:
    /// it never is.
    std::optional<Placed> endOf(std::uint32_t number, const Way& way) const
    {
        if (all()[number].gone < 0)
            return std::nullopt;
        Placed end{ all()[number].gone, number, {}, {} };
        std::vector<bool> lives;
        for (const Placed& each : way) {
            if (each.optimizer != number)
                continue;
            end.before = std::max(end.before, each.before);
            for (const OptimizerEvent& event : each.events) {
                lives.resize(std::max<std::size_t>(lives.size(), event.block + 1));
                lives[event.block] = event.alloc;
            }
        }
        for (std::uint32_t block = 0; block < lives.size(); ++block)
            if (lives[block])
                end.events.push_back({ false, 0, block });
        return end;
    }

    void sumUp()
    {
        const BlockColumns& blocks = m_rewrite.m_trace->blocks();
        for (std::size_t row = 0; row < m_rewrite.m_recorded.owners.size(); ++row)
            if (m_rewrite.m_recorded.owners[row] != RecordedOptimizers::kNone) {
                ++m_rewrite.m_taken.blocks;
                m_rewrite.m_taken.bytes
                    = wrapAdd(m_rewrite.m_taken.bytes, blocks.requestedBytes[BlockId::born(row)]);
            }
        for (std::size_t row = 0; row < m_rewrite.m_zeroed.size(); ++row)
            if (m_rewrite.m_zeroed[row]) {
                ++m_rewrite.m_letGo.blocks;
                m_rewrite.m_letGo.bytes
                    = wrapAdd(m_rewrite.m_letGo.bytes, blocks.requestedBytes[BlockId::born(row)]);
            }
        for (const OptimizerRewrite::Placed& placed : m_rewrite.m_ways.front())
            for (const OptimizerEvent& event : placed.events)
                if (event.alloc) {
                    ++m_rewrite.m_put.blocks;
                    m_rewrite.m_put.bytes = wrapAdd(m_rewrite.m_put.bytes, event.bytes);
                }
    }

    void giveReason(const TorchVersion& recorded)
    {
        const std::string& templates = OptimizerTemplates::builtIn().torchVersion();
        const std::string package = m_choice ? m_choice->package : std::string();
        const auto unknown = std::ranges::find(m_matches, false, &OptimizerMatch::known);
        if (isOnHost())
            m_rewrite.m_reason
                = anEstimate(say("all that the recorded optimizer asked for counts as lying on the host"));
        else if (const auto version = TorchVersion::parse(templates); version && *version != recorded)
            m_rewrite.m_reason = package.empty()
                ? anEstimate(say("optimizers do as those of PyTorch %1, where %2 was recorded",
                    version->text(), recorded.text()))
                : anEstimate(say("the optimizer does as that of %1 with PyTorch %2, where %3 was recorded",
                    package, version->text(), recorded.text()));
        else if (unknown != m_matches.end())
            m_rewrite.m_reason
                = anEstimate(say("%1, which was recorded, does not do what is known of it; all "
                      "that was asked for in its steps counts as its own",
                    all()[static_cast<std::size_t>(unknown - m_matches.begin())].name));
        else if (m_groupsOpen && m_decayOpen)
            m_rewrite.m_reason
                = anEstimate(say("the recording tells neither in which groups parameters are, "
                      "nor whether a weight decay was given"));
        else if (m_groupsOpen)
            m_rewrite.m_reason
                = anEstimate(say("the recording does not tell in which groups parameters are"));
        else if (m_decayOpen)
            m_rewrite.m_reason
                = anEstimate(say("the recording does not tell whether a weight decay was given"));
        else
            m_rewrite.m_reason = anEstimate(say("it goes by what the optimizer of %1 asks for",
                package.empty() ? "PyTorch " + templates : package));
    }

    std::optional<OptimizerChoice> m_choice;
    ShardOf m_shardOf;
    std::optional<GradientMoments> m_moments; // none: it steps behind backward
    TorchVersion m_version;
    std::vector<OptimizerParts> m_did;
    std::vector<OptimizerMatch> m_matches;
    OptimizerRewrite m_rewrite;
    bool m_groupsOpen = false, m_decayOpen = false; // there is a way of each
};

namespace {

/// Refused where it raises in a step of one of the parameters.
Result<void> checkTypes(
    const RecordedRun& run, const OptimizerChoice& choice, const RecordedOptimizers& recorded)
{
    const Recording& recording = run.trace->recording();
    for (const RecordedOptimizer& optimizer : recorded.all)
        for (const RecordedOptimizer::Step& step : optimizer.steps)
            for (const std::uint32_t index : step.having) {
                const OptimizerParameter& parameter = optimizer.parameters[index];
                const auto type = recording.strings[StringId{ parameter.type }];
                if (choice.refuses(type, parameter.elements))
                    return fail(Error::Kind::Refused,
                        say("%1 of %2 raises in a step of a parameter like %3, %4 with %5 elements",
                            choice.name, choice.package, recording.strings[optimizer.names[index]], type,
                            parameter.elements));
            }
    return {};
}

} // namespace

Result<OptimizerRewrite> OptimizerRewrite::of(
    const RecordedRun& run, std::string_view value, const ShardOf& shardOf)
{
    std::optional<OptimizerChoice> choice;
    if (!value.empty()) {
        auto found = OptimizerTemplates::builtIn().find(value);
        if (!found)
            return Failure(found.error());
        choice = std::move(*found);
    }
    auto recorded = recordedOptimizers(run);
    if (!recorded)
        return Failure(recorded.error());
    if (choice)
        if (const auto taken = checkTypes(run, *choice, *recorded); !taken)
            return Failure(taken.error());
    if (!choice || !choice->inBackward)
        return RewriteMaker(run, std::move(choice), std::move(*recorded), shardOf).make();
    auto moments = gradientMoments(run, *recorded);
    if (!moments)
        return Failure(moments.error());
    return RewriteMaker(run, std::move(choice), std::move(*recorded), shardOf, std::move(*moments)).make();
}

Result<OptimizerRewrite> OptimizerRewrite::onHost(const RecordedRun& run)
{
    return recordedOptimizers(run).and_then([&](RecordedOptimizers recorded) {
        return RewriteMaker(run,
            OptimizerChoice{ .name = "an optimizer on the host", .made = &OptimizerTemplates::onHost() },
            std::move(recorded), {})
            .make();
    });
}

/// Without its states and blocks.
PutOptimizers OptimizerRewrite::asTold() const
{
    PutOptimizers put;
    std::vector<EventIndex> births; // of what is whose
    for (std::uint32_t number = 0; number < m_recorded.all.size(); ++number) {
        const RecordedOptimizer& recorded = m_recorded.all[number];
        PutOptimizers::Optimizer& optimizer = put.all.emplace_back();
        optimizer.number = recorded.number;
        optimizer.recorded = recorded.name;
        optimizer.name = m_names[number];
        optimizer.parameterLike = recorded.like;
        births.clear();
        for (std::size_t row = 0; row < m_recorded.owners.size(); ++row)
            if (m_recorded.owners[row] == number)
                births.push_back(m_trace->blocks().birth(BlockId::born(row)));
        for (const RecordedOptimizer::Step& step : recorded.steps) {
            const auto first = std::ranges::lower_bound(births, step.begin);
            const bool asks = first != births.end() && *first < step.end;
            optimizer.steps.push_back({ step.begin, step.end, asks ? *first : -1 });
            if (asks && optimizer.like < 0)
                optimizer.like = *first;
        }
    }
    return put;
}

ProgramRun OptimizerRewrite::rewritten(const ProgramRun& run, std::size_t way) const
{
    PutOptimizers told = asTold();
    told.firstBlock = static_cast<std::uint32_t>(run.blocks.size());
    ProgramRun out;
    out.blocks = run.blocks;
    out.reordered = true;
    out.asks.reserve(run.asks.size());
    std::vector<std::vector<std::uint32_t>> blocks(m_recorded.all.size()); // of each optimizer, in `out`
    auto next = m_ways[way].begin();
    const auto end = m_ways[way].end();
    const auto put = [&](const Placed& placed) {
        const RecordedOptimizer& optimizer = m_recorded.all[placed.optimizer];
        const EventIndex like = std::max<EventIndex>(placed.before - 1, 0);
        for (const OptimizerEvent& event : placed.events) {
            if (event.alloc) {
                blocks[placed.optimizer].push_back(static_cast<std::uint32_t>(out.blocks.size()));
                out.blocks.push_back({ std::max<std::int64_t>(event.bytes, 1), optimizer.like, 0 });
                told.owners.push_back(placed.optimizer);
                out.asks.push_back({ Action::Alloc, blocks[placed.optimizer].back(), like });
            } else {
                const std::uint32_t block = blocks[placed.optimizer][event.block];
                out.asks.push_back({ Action::FreeRequested, block, like });
                out.asks.push_back({ Action::FreeCompleted, block, like });
            }
        }
        if (placed.gradient) {
            out.asks.push_back({ Action::FreeRequested, *placed.gradient, like });
            out.asks.push_back({ Action::FreeCompleted, *placed.gradient, like });
        }
        for (PutOptimizers::State state : placed.states) {
            state.block = blocks[placed.optimizer][state.block];
            told.all[placed.optimizer].states.push_back(std::move(state));
        }
    };
    for (const ProgramRun::Ask& ask : run.asks) {
        for (; next != end && next->before <= ask.like; ++next)
            put(*next);
        const bool ours = ask.block < m_recorded.owners.size()
            && m_recorded.owners[ask.block] != RecordedOptimizers::kNone;
        const bool isZeroed
            = ask.block < m_zeroed.size() && m_zeroed[ask.block] && ask.action != Action::Alloc;
        if (!ours && !isZeroed)
            out.asks.push_back(ask);
    }
    for (; next != end; ++next)
        put(*next);
    out.optimizers = std::make_shared<const PutOptimizers>(std::move(told));
    return out;
}

} // namespace strata::model
