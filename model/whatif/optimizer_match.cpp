// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/optimizer_match.h"

#include <algorithm>
#include <numeric>

namespace strata::model {

namespace {

using Groups = std::vector<std::uint32_t>;

constexpr int kMostTries = 20000; // of a group

/// Groups with which the first step of a template is what was recorded, looked for from the first parameter
/// on.
class GroupSearch {
public:
    GroupSearch(const OptimizerTemplate& made, const RecordedOptimizer& optimizer,
        const std::vector<OptimizerEvent>& did)
        : m_template(made)
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
            { 0 });
        std::vector<std::uint32_t> having;
        for (const std::uint32_t index : m_optimizer.steps.front().having)
            if (index >= first && index < end)
                having.push_back(static_cast<std::uint32_t>(index - first));
        return run.step(having, events);
    }

    const OptimizerTemplate& m_template;
    const RecordedOptimizer& m_optimizer;
    const std::vector<OptimizerEvent>& m_did;
    int m_tries = 0;
};

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

std::optional<OptimizerParts> partsOf(
    const OptimizerTemplate& made, const RecordedOptimizer& optimizer, const Groups& groups)
{
    OptimizerRun run(made, optimizer.parameters, groups);
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
    const auto manners = OptimizerTemplates::builtIn().mannersOf(optimizer.name);
    const auto leads = [&](const OptimizerTemplate& made, const Groups& groups) {
        OptimizerRun run(made, optimizer.parameters, groups);
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
                auto found = GroupSearch(*manner.made, optimizer, did[1]).find();
                if (!found)
                    continue;
                groups = std::move(*found);
            }
            if (!leads(*manner.made, groups))
                continue;
            decays = decays && manner.decays;
            if (!match.known) {
                match.known = true;
                match.made = manner.made;
                match.groupsShow = each.size() == 1 || !leads(*manner.made, each) || groups == each;
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
