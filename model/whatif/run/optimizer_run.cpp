// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/optimizer_run.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace strata::model {

namespace {

constexpr std::uint32_t kNoRequestBlock = std::numeric_limits<std::uint32_t>::max();

std::int64_t requestBytesOf(const OptimizerAsk& ask, const OptimizerParameter& parameter)
{
    constexpr std::int64_t kFloat32 = 4, kElementsOfScale = 256;
    switch (ask.size) {
    case OptimizerAsk::Size::Bytes:
        return parameter.bytes;
    case OptimizerAsk::Size::Float32:
        return parameter.elements * kFloat32;
    case OptimizerAsk::Size::Int8:
        return parameter.elements;
    case OptimizerAsk::Size::Scales:
        return (parameter.elements + kElementsOfScale - 1) / kElementsOfScale * kFloat32;
    case OptimizerAsk::Size::Constant:
        break;
    }
    return ask.constantBytes;
}

} // namespace

OptimizerRun::OptimizerRun(const OptimizerTemplate& made, std::vector<OptimizerParameter> parameters,
    std::vector<std::uint32_t> groups, std::int64_t least)
    : m_template(made)
    , m_parameters(std::move(parameters))
    , m_groups(std::move(groups))
    , m_least(least)
    , m_once(made.slots)
    , m_steps(m_parameters.size())
    , m_live(m_parameters.size() * made.slots, kNoRequestBlock)
{
}

void OptimizerRun::make(std::vector<OptimizerEvent>& events)
{
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        const std::size_t end = group + 1 < m_groups.size() ? m_groups[group + 1] : m_parameters.size();
        Indices all;
        for (std::size_t index = m_groups[group]; index < end; ++index)
            all.push_back(static_cast<std::uint32_t>(index));
        carryOut(m_template.made, all, events);
    }
}

bool OptimizerRun::step(const std::vector<std::uint32_t>& having, std::vector<OptimizerEvent>& events)
{
    auto from = having.begin();
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        const std::size_t end = group + 1 < m_groups.size() ? m_groups[group + 1] : m_parameters.size();
        const auto to = std::find_if(from, having.end(), [&](std::uint32_t index) { return index >= end; });
        if (!stepGroup(Indices(from, to), events))
            return false;
        from = to;
    }
    return true;
}

bool OptimizerRun::stepGroup(const Indices& having, std::vector<OptimizerEvent>& events)
{
    if (having.empty())
        return true;
    const auto news = static_cast<std::size_t>(
        std::ranges::count_if(having, [&](std::uint32_t index) { return m_steps[index] == 0; }));
    const OptimizerRule* rule = &m_template.first;
    if (news == 0) {
        rule = &m_template.laterRule(m_steps[having.front()] + 1);
        for (const std::uint32_t index : having)
            if (&m_template.laterRule(m_steps[index] + 1) != rule)
                return false;
    } else if (news < having.size() && !m_template.mixes) {
        return false;
    }
    m_newAlone = news > 0 && news < having.size();
    carryOut(*rule, having, events);
    m_newAlone = false;
    for (const std::uint32_t index : having)
        ++m_steps[index];
    return true;
}

void OptimizerRun::carryOut(
    const OptimizerRule& rule, const Indices& indices, std::vector<OptimizerEvent>& events)
{
    std::vector<Indices> groups;
    std::vector<std::uint32_t> types;
    for (const std::uint32_t index : indices) {
        const auto known = std::ranges::find(types, m_parameters[index].type);
        if (known == types.end()) {
            types.push_back(m_parameters[index].type);
            groups.push_back({ index });
        } else {
            groups[static_cast<std::size_t>(known - types.begin())].push_back(index);
        }
    }
    if (m_template.typesBack)
        std::ranges::reverse(groups);
    for (const OptimizerLoop& each : rule) {
        if (each.over != OptimizerLoop::Over::Types) {
            if (each.over == OptimizerLoop::Over::All)
                loop(each, indices, events);
            else if (!groups.empty())
                loop(each, groups.back(), events);
            continue;
        }
        for (std::size_t turn = 0; turn < groups.size(); ++turn)
            for (const OptimizerLoop& inner : each.loops)
                if (inner.over == OptimizerLoop::Over::Group)
                    loop(inner, groups[turn], events);
                else if (turn > 0)
                    loop(inner, groups[turn - 1], events);
    }
}

bool OptimizerRun::applies(const OptimizerAsk& ask, std::uint32_t index)
{
    const bool large = m_parameters[index].elements >= m_least;
    switch (ask.when) {
    case OptimizerAsk::When::Always:
        break;
    case OptimizerAsk::When::Large:
        return large;
    case OptimizerAsk::When::Small:
        return !large;
    case OptimizerAsk::When::Once:
        if (!large || m_once[ask.slot])
            return false;
        m_once[ask.slot] = true;
        break;
    }
    return true;
}

void OptimizerRun::loop(const OptimizerLoop& loop, const Indices& all, std::vector<OptimizerEvent>& events)
{
    Indices indices;
    for (const std::uint32_t index : all)
        if (!m_newAlone || !loop.makesState || m_steps[index] == 0)
            indices.push_back(index);
    if (loop.order == OptimizerLoop::Order::Down)
        std::ranges::reverse(indices);
    else if (loop.order == OptimizerLoop::Order::End && indices.size() > 1)
        indices.erase(indices.begin(), indices.end() - 1);
    for (std::size_t turn = 0; turn < indices.size(); ++turn) {
        for (const OptimizerAsk& ask : loop.asks) {
            if (ask.ofBefore && turn == 0)
                continue;
            const std::uint32_t index = indices[ask.ofBefore ? turn - 1 : turn];
            std::uint32_t& live = m_live[std::size_t{ ask.slot } * m_parameters.size() + index];
            if (ask.alloc) {
                if (!applies(ask, index))
                    continue;
                const std::int64_t bytes = requestBytesOf(ask, m_parameters[index]);
                if (bytes == 0) // for which nobody asks the allocator
                    continue;
                live = m_blocks++;
                events.push_back({ true, bytes, live, index, ask.size });
            } else if (live != kNoRequestBlock) {
                events.push_back({ false, 0, live });
                live = kNoRequestBlock;
            }
        }
    }
}

} // namespace strata::model
