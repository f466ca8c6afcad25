// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/filter.h"

#include "model/base/ascii.h"
#include "model/base/units.h"
#include "model/trace/frames.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace strata::model {

namespace {

/// Says of every stack whether a frame of it has the text. Looks at each name and each frame once.
class StackSearch {
public:
    StackSearch(const Recording& recording, std::string_view text)
        : m_recording(recording)
        , m_text(lowered(std::string(text)))
        , m_names(recording.strings.size(), kUnset)
        , m_frames(recording.stacks.frameCount(), kUnset)
    {
        m_isLine = m_text.find(':') != std::string::npos;
    }
    [[nodiscard]] bool operator()(StackId stack)
    {
        const std::span<const FrameId> frames = m_recording.stacks.stack(stack);
        return std::any_of(frames.begin(), frames.end(), [this](FrameId frame) { return matches(frame); });
    }

private:
    enum : std::uint8_t { No, Yes, kUnset };

    bool matches(StringId name)
    {
        if (!name.valid())
            return false;
        std::uint8_t& known = m_names[name.index()];
        if (known == kUnset)
            known = containsAnyCase(m_recording.strings[name], m_text) ? Yes : No;
        return known == Yes;
    }
    bool matches(FrameId id)
    {
        std::uint8_t& known = m_frames[id.index()];
        if (known == kUnset) {
            const Frame& frame = m_recording.stacks.frame(id);
            known = matches(frame.file) || matches(frame.function)
                    || (m_isLine
                        && containsAnyCase(
                            fmt::format("{}:{}", m_recording.strings[frame.file], frame.line), m_text))
                ? Yes
                : No;
        }
        return known == Yes;
    }

    const Recording& m_recording;
    std::string m_text; // lower case
    bool m_isLine = false;
    std::vector<std::uint8_t> m_names; // by StringId
    std::vector<std::uint8_t> m_frames; // by FrameId
};

/// "h.3.attn" is of "h.3.attn" and of "h.3.*".
bool isOfModule(std::string_view module, std::string_view wanted)
{
    if (!wanted.ends_with(".*"))
        return module == wanted;
    wanted.remove_suffix(2);
    return module.starts_with(wanted) && (module.size() == wanted.size() || module[wanted.size()] == '.');
}

} // namespace

BlockMatcher::BlockMatcher(const DeviceTrace& trace, const BlockFilter& filter, const DeviceLabels& labels)
    : m_trace(&trace)
    , m_filter(filter)
    , m_all(filter.empty())
    , m_address(parseAddress(filter.text))
{
    if (filter.category)
        addLabels(labels.category, [&](std::string_view name) { return name == *filter.category; });
    if (filter.module)
        addLabels(labels.module, [&](std::string_view name) { return isOfModule(name, *filter.module); });
    const bool byText = !filter.text.empty() && !m_address;
    m_anyStack = filter.sites.empty() && !filter.line && !byText;
    if (m_anyStack)
        return;
    const Recording& recording = trace.recording();
    const std::size_t stacks = recording.stacks.stackCount();
    m_stackMatches.assign(stacks + 1, filter.sites.empty());
    for (const StackId site : filter.sites)
        m_stackMatches[std::min(site.index(), stacks)] = true;
    if (filter.line) {
        const std::vector<bool> ofLine = stacksOfLine(recording, *filter.line);
        for (std::size_t row = 0; row <= stacks; ++row)
            m_stackMatches[row] = m_stackMatches[row] && ofLine[row];
    }
    if (byText) {
        StackSearch search(recording, filter.text);
        for (std::size_t row = 0; row < stacks; ++row)
            if (m_stackMatches[row])
                m_stackMatches[row] = search(StackId{ static_cast<std::uint32_t>(row) });
        m_stackMatches[stacks] = false;
    }
}

template <class IsWanted>
void BlockMatcher::addLabels(std::shared_ptr<const BlockLabels> labels, const IsWanted& isWanted)
{
    LabelCondition condition{ std::move(labels), {} };
    if (condition.labels)
        for (const std::string& name : condition.labels->names)
            condition.matches.push_back(isWanted(name));
    condition.matches.push_back(isWanted(kUnknownLabel));
    m_labels.push_back(std::move(condition));
}

bool BlockMatcher::LabelCondition::operator()(BlockId block) const
{
    return labels && matches[std::min<std::size_t>(labels->rowOf(block), matches.size() - 1)];
}

bool BlockMatcher::operator()(BlockId block) const
{
    if (m_all)
        return true;
    const BlockColumns& blocks = m_trace->blocks();
    const std::int64_t bytes = blocks.requestedBytes[block];
    if (bytes < m_filter.minBytes || bytes > m_filter.maxBytes)
        return false;
    if (m_filter.stream && blocks.stream[block] != *m_filter.stream)
        return false;
    if (m_filter.pool && blocks.pool[block] != *m_filter.pool)
        return false;
    if (!std::ranges::all_of(m_labels, [block](const LabelCondition& has) { return has(block); }))
        return false;
    if (!m_anyStack && !m_stackMatches[std::min(blocks.stack[block].index(), m_stackMatches.size() - 1)])
        return false;
    if (!m_address)
        return true;
    const std::uint32_t rounding = blocks.rounding[block];
    const std::int64_t held
        = std::max<std::int64_t>(bytes, 1) + (rounding == BlockColumns::kRoundingUnknown ? 0 : rounding);
    return *m_address - blocks.address[block] < static_cast<std::uint64_t>(held);
}

} // namespace strata::model
