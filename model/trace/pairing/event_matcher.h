// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/filter/filter.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// A block filter carried over to events: an event of a block is kept with its block, any other event by its
/// own size, stream, pool, stack and address; of other events nobody knows labels. A text also finds actions,
/// user metadata and compile contexts. Preparing costs a pass over stacks and texts, asking O(log n) at most.
/// Safe from any thread; the trace must outlive it.
class EventMatcher {
public:
    EventMatcher(const DeviceTrace& trace, const BlockFilter& filter, const DeviceLabels& labels = {});
    [[nodiscard]] bool operator()(std::uint32_t event) const;

private:
    [[nodiscard]] bool ownFieldsMatch(std::uint32_t event) const; // all conditions but the text
    [[nodiscard]] bool textInEvent(std::uint32_t event) const; // its action, metadata or context
    [[nodiscard]] bool textInPlace(std::uint32_t event) const; // its stack or address
    void prepareStacks();
    void prepareTexts();

    const DeviceTrace* m_trace;
    BlockFilter m_filter;
    BlockMatcher m_blocks;
    BlockMatcher m_blocksWithoutText;
    std::vector<bool> m_siteMatches; // by StackId; empty: any site and line
    std::vector<bool> m_stackHasText; // by StackId
    std::vector<bool> m_actionHasText; // by Action
    std::vector<std::uint32_t> m_hasText; // events whose metadata, context or unknown action has it; sorted
    std::optional<std::uint64_t> m_address;
};

} // namespace strata::model
