// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/wrap.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <optional>

namespace strata::model {

/// What the allocator handed out for each block, where that is known: for blocks of the end state from the
/// recording, for all where a replay of the trace is exact. Keeps pointers to both, which must outlive it.
/// Any thread.
class RoundedSizes {
public:
    /// `replayed`: rounded less requested bytes by block, as an exact replay has them; nullptr: there is
    /// none.
    explicit RoundedSizes(const DeviceTrace& trace, const BlockColumn<std::uint32_t>* replayed = nullptr)
        : m_blocks(&trace.blocks())
        , m_replayed(replayed)
    {
    }

    /// Rounded less requested bytes.
    [[nodiscard]] std::optional<std::int64_t> rounding(BlockId block) const
    {
        std::uint32_t more = m_blocks->rounding[block];
        if (more == BlockColumns::kRoundingUnknown && m_replayed != nullptr)
            more = (*m_replayed)[block];
        return more == BlockColumns::kRoundingUnknown ? std::nullopt : std::optional<std::int64_t>(more);
    }
    [[nodiscard]] std::optional<std::int64_t> bytes(BlockId block) const
    {
        const auto more = rounding(block);
        return more ? std::optional(wrapAdd(m_blocks->requestedBytes[block], *more)) : std::nullopt;
    }

private:
    const BlockColumns* m_blocks;
    const BlockColumn<std::uint32_t>* m_replayed;
};

} // namespace strata::model
