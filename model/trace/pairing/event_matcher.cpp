// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/event_matcher.h"

#include "model/base/ascii.h"
#include "model/base/units.h"
#include "model/trace/filter/grouping.h"

#include <algorithm>
#include <unordered_map>

namespace strata::model {

namespace {

BlockFilter withoutText(BlockFilter filter)
{
    filter.text.clear();
    return filter;
}

} // namespace

EventMatcher::EventMatcher(const DeviceTrace& trace, const BlockFilter& filter, const DeviceLabels& labels)
    : m_trace(&trace)
    , m_filter(filter)
    , m_blocks(trace, filter, labels)
    , m_blocksWithoutText(trace, withoutText(filter), labels)
    , m_address(parseAddress(filter.text))
{
    m_filter.text = lowered(m_filter.text);
    prepareStacks();
    if (!m_filter.text.empty())
        prepareTexts();
}

void EventMatcher::prepareStacks()
{
    if (m_filter.sites.empty() && !m_filter.line)
        return;
    const Recording& recording = m_trace->recording();
    m_siteMatches.assign(recording.stacks.stackCount(), m_filter.sites.empty());
    for (const StackId site : m_filter.sites) {
        if (site.index() < m_siteMatches.size())
            m_siteMatches[site.index()] = true;
    }
    if (!m_filter.line)
        return;
    const std::vector<bool> ofLine = stacksOfLine(recording, *m_filter.line);
    for (std::size_t i = 0; i < m_siteMatches.size(); ++i)
        m_siteMatches[i] = m_siteMatches[i] && ofLine[i];
}

void EventMatcher::prepareTexts()
{
    const Recording& recording = m_trace->recording();
    const StackTable& stacks = recording.stacks;
    std::vector<bool> frames(stacks.frameCount());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const Frame& frame = stacks.frame(FrameId{ static_cast<std::uint32_t>(i) });
        frames[i] = containsAnyCase(recording.strings[frame.file], m_filter.text)
            || containsAnyCase(recording.strings[frame.function], m_filter.text)
            || containsAnyCase(
                frameLabel(recording, FrameId{ static_cast<std::uint32_t>(i) }), m_filter.text);
    }
    m_stackHasText.resize(stacks.stackCount());
    for (std::size_t i = 0; i < m_stackHasText.size(); ++i) {
        const auto stack = stacks.stack(StackId{ static_cast<std::uint32_t>(i) });
        m_stackHasText[i]
            = std::any_of(stack.begin(), stack.end(), [&frames](FrameId f) { return frames[f.index()]; });
    }

    for (int action = 0; action < static_cast<int>(Action::Other); ++action)
        m_actionHasText.push_back(containsAnyCase(actionName(static_cast<Action>(action)), m_filter.text));
    m_actionHasText.push_back(false); // Other: by the name it has in the file, below

    const EventColumns& events = m_trace->events();
    std::unordered_map<StringId, bool> known; // few texts stand at many events
    for (const SparseText* texts : { &events.userMetadata, &events.compileContext, &events.otherAction }) {
        for (const auto& [event, text] : texts->items()) {
            const auto [entry, isNew] = known.try_emplace(text, false);
            if (isNew)
                entry->second = containsAnyCase(recording.strings[text], m_filter.text);
            if (entry->second)
                m_hasText.push_back(event);
        }
    }
    std::sort(m_hasText.begin(), m_hasText.end());
}

bool EventMatcher::operator()(std::uint32_t event) const
{
    const BlockId block = m_trace->events().block[event];
    if (block.valid())
        return m_blocks(block)
            || (!m_filter.text.empty() && textInEvent(event) && m_blocksWithoutText(block));
    return ownFieldsMatch(event) && (m_filter.text.empty() || textInPlace(event) || textInEvent(event));
}

bool EventMatcher::ownFieldsMatch(std::uint32_t event) const
{
    const EventColumns& events = m_trace->events();
    const StackId stack = events.stack[event];
    return !m_filter.asksForLabels() && events.bytes[event] >= m_filter.minBytes
        && events.bytes[event] <= m_filter.maxBytes
        && (!m_filter.stream || *m_filter.stream == events.stream[event])
        && (!m_filter.pool || *m_filter.pool == poolOfEvent(*m_trace, event))
        && ((m_filter.sites.empty() && !m_filter.line)
            || (stack.index() < m_siteMatches.size() && m_siteMatches[stack.index()]));
}

bool EventMatcher::textInEvent(std::uint32_t event) const
{
    return m_actionHasText[static_cast<std::size_t>(m_trace->events().action[event])]
        || std::binary_search(m_hasText.begin(), m_hasText.end(), event);
}

bool EventMatcher::textInPlace(std::uint32_t event) const
{
    const EventColumns& events = m_trace->events();
    const std::size_t stack = events.stack[event].index();
    if (stack < m_stackHasText.size() && m_stackHasText[stack])
        return true;
    // Of an out-of-memory the column holds the device's free bytes.
    if (events.action[event] == Action::Oom)
        return false;
    const std::uint64_t address = events.address[event];
    return m_address && *m_address >= address
        && *m_address - address < static_cast<std::uint64_t>(std::max<std::int64_t>(events.bytes[event], 1));
}

} // namespace strata::model
