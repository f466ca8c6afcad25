// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/optimizer_match.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace strata::model {

namespace {

using Groups = std::vector<std::uint32_t>;

constexpr int kMostTries = 20000; // of a group

/// Groups with which the first step of a template is what was recorded, looked for from the first parameter
/// on.
class GroupSearch {
public:
    GroupSearch(const OptimizerTemplates::Manner& manner, const RecordedOptimizer& optimizer,
        const std::vector<OptimizerEvent>& did)
        : m_template(*manner.made)
        , m_least(manner.least)
        , m_optimizer(optimizer)
        , m_did(did)
    {
    }

    [[nodiscard]] std::optional<Groups> find()
    {
        Groups groups;
        if (from(0, 0, 0, groups))
            return groups;
        return std::nullopt;
    }

private:
    /// `block`: how many came before.
    bool from(std::size_t first, std::size_t event, std::uint32_t block, Groups& groups)
    {
        const std::size_t count = m_optimizer.parameters.size();
        if (first == count)
            return event == m_did.size();
        groups.push_back(static_cast<std::uint32_t>(first));
        for (std::size_t end = count; end > first && m_tries < kMostTries; --end) {
            ++m_tries;
            std::vector<OptimizerEvent> events;
            if (!eventsOf(first, end, events) || events.size() > m_did.size() - event)
                continue;
            std::uint32_t blocks = block;
            for (OptimizerEvent& each : events) {
                each.block += block;
                blocks += each.alloc ? 1 : 0;
            }
            if (std::ranges::equal(events, std::span(m_did).subspan(event, events.size()))
                && from(end, event + events.size(), blocks, groups))
                return true;
        }
        groups.pop_back();
        return false;
    }

    bool eventsOf(std::size_t first, std::size_t end, std::vector<OptimizerEvent>& events) const
    {
        const auto& all = m_optimizer.parameters;
        OptimizerRun run(m_template,
            { all.begin() + static_cast<std::ptrdiff_t>(first),
                all.begin() + static_cast<std::ptrdiff_t>(end) },
            { 0 }, m_least);
        std::vector<std::uint32_t> having;
        for (const std::uint32_t index : m_optimizer.steps.front().having)
            if (index >= first && index < end)
                having.push_back(static_cast<std::uint32_t>(index - first));
        return run.step(having, events);
    }

    const OptimizerTemplate& m_template;
    std::int64_t m_least;
    const RecordedOptimizer& m_optimizer;
    const std::vector<OptimizerEvent>& m_did;
    int m_tries = 0;
};

/// An option may have said from how many elements on a parameter is large, which those that there are tell
/// apart.
std::vector<OptimizerTemplates::Manner> withOtherLeasts(
    std::vector<OptimizerTemplates::Manner> manners, const RecordedOptimizer& optimizer)
{
    constexpr std::size_t kMostLeasts = 200;
    std::set<std::int64_t> sizes;
    for (const OptimizerParameter& parameter : optimizer.parameters)
        sizes.insert({ parameter.elements, parameter.elements + 1 });
    if (sizes.size() > kMostLeasts)
        return manners;
    for (std::size_t i = 0, count = manners.size(); i < count; ++i)
        for (const std::int64_t least : sizes)
            if (manners[i].least > 0 && least != manners[i].least)
                manners.push_back({ manners[i].made, manners[i].decays, least });
    return manners;
}

} // namespace

std::vector<OptimizerParts> recordedParts(const DeviceTrace& trace, const RecordedOptimizers& recorded)
{
    std::vector<OptimizerParts> parts;
    for (const RecordedOptimizer& optimizer : recorded.all)
        parts.emplace_back(optimizer.steps.size() + 1);
    std::vector<std::uint32_t> numbers(trace.blocks().bornCount()), next(recorded.all.size());
    const EventColumns& events = trace.events();
    for (std::size_t event = 0; event < events.action.size(); ++event) {
        const BlockId block = events.block[event];
        const bool alloc = events.action[event] == Action::Alloc;
        if ((!alloc && events.action[event] != Action::FreeCompleted) || !trace.blocks().contains(block)
            || block.isOlder() || recorded.owners[block.row()] == RecordedOptimizers::kNone)
            continue;
        const std::uint32_t owner = recorded.owners[block.row()];
        const auto& steps = recorded.all[owner].steps;
        if (!alloc && static_cast<EventIndex>(event) >= steps.back().end)
            continue; // its states go with it
        const auto step = std::ranges::upper_bound(
            steps, static_cast<EventIndex>(event), {}, &RecordedOptimizer::Step::begin);
        auto& part = parts[owner][static_cast<std::size_t>(step - steps.begin())];
        if (alloc)
            numbers[block.row()] = next[owner]++;
        part.push_back({ alloc, alloc ? events.bytes[event] : 0, numbers[block.row()] });
    }
    return parts;
}

std::optional<OptimizerParts> partsOf(const OptimizerTemplate& made, const RecordedOptimizer& optimizer,
    const Groups& groups, std::int64_t least)
{
    OptimizerRun run(made, optimizer.parameters, groups, least);
    OptimizerParts parts(1);
    run.make(parts.front());
    for (const RecordedOptimizer::Step& step : optimizer.steps)
        if (!run.step(step.having, parts.emplace_back()))
            return std::nullopt;
    return parts;
}

OptimizerMatch matchOptimizer(const RecordedOptimizer& optimizer, const OptimizerParts& did)
{
    OptimizerMatch match{ .groups = { 0 } };
    Groups each(optimizer.parameters.size());
    std::iota(each.begin(), each.end(), 0U);
    const auto manners = withOtherLeasts(OptimizerTemplates::builtIn().mannersOf(optimizer.name), optimizer);
    const auto leads = [&](const OptimizerTemplates::Manner& manner, const Groups& groups) {
        OptimizerRun run(*manner.made, optimizer.parameters, groups, manner.least);
        std::vector<OptimizerEvent> events;
        run.make(events);
        for (std::size_t part = 0; part < did.size(); ++part) {
            if (part > 0) {
                events.clear();
                if (!run.step(optimizer.steps[part - 1].having, events))
                    return false;
            }
            if (events != did[part])
                return false;
        }
        return true;
    };
    bool decays = true;
    for (const bool oneGroup : { true, false }) {
        for (const OptimizerTemplates::Manner& manner : manners) {
            Groups groups{ 0 };
            if (!oneGroup) {
                auto found = GroupSearch(manner, optimizer, did[1]).find();
                if (!found)
                    continue;
                groups = std::move(*found);
            }
            if (!leads(manner, groups))
                continue;
            decays = decays && manner.decays;
            if (!match.known) {
                match.known = true;
                match.made = manner.made;
                match.least = manner.least;
                match.groupsShow = each.size() == 1 || !leads(manner, each) || groups == each;
                match.groups = groups;
            }
        }
        if (match.known)
            break;
    }
    match.decays = match.known && decays;
    return match;
}

} // namespace strata::model
