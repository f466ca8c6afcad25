// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/trace/filter/block_labels.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// Which blocks take part. Conditions are joined by "and"; an empty filter takes all. A value: copy and
/// compare freely.
struct BlockFilter {
    std::vector<StackId> sites; ///< one of these stacks; empty: any
    std::optional<std::string> line; ///< frameLabel of the user frame; kNoStackLabel: blocks without a stack
    std::optional<StreamIndex> stream;
    std::optional<PoolIndex> pool;
    std::optional<std::string> category; ///< a name of DeviceLabels::category
    std::optional<std::string> module; ///< of DeviceLabels::module; "h.3.*": and of all modules within
    std::int64_t minBytes = 0; ///< requested
    std::int64_t maxBytes = std::numeric_limits<std::int64_t>::max();
    std::string text; ///< part of a file or function name in the stack or of "file:line", any case; or an
                      ///< address inside the block (0x...)

    friend bool operator==(const BlockFilter&, const BlockFilter&) = default;
    [[nodiscard]] bool empty() const { return *this == BlockFilter{}; }
    [[nodiscard]] bool asksForLabels() const { return category || module; } ///< what a trace does not have
};

/// A filter prepared for one device: O(1) a block. Safe from any thread.
class BlockMatcher {
public:
    /// A condition on labels that are not known matches nothing.
    BlockMatcher(const DeviceTrace& trace, const BlockFilter& filter, const DeviceLabels& labels = {});
    [[nodiscard]] bool operator()(BlockId block) const;

private:
    /// Which names a condition asks for.
    struct LabelCondition {
        std::shared_ptr<const BlockLabels> labels; // nullptr: none are known
        std::vector<bool> matches; // by row of names; last: blocks without one
        [[nodiscard]] bool operator()(BlockId block) const;
    };
    template <class IsWanted>
    void addLabels(std::shared_ptr<const BlockLabels> labels, const IsWanted& isWanted);

    const DeviceTrace* m_trace;
    BlockFilter m_filter;
    std::vector<LabelCondition> m_labels;
    bool m_all = true;
    bool m_anyStack = true; // no condition on stacks: m_stackMatches is empty
    std::vector<bool> m_stackMatches; // by StackId; last: "no stack"
    std::optional<std::uint64_t> m_address;
};

} // namespace strata::model
