// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/older_pairs.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace strata::model {

namespace {

/// The older rows of a trace that have no partner yet, the largest first.
using Rows = std::vector<std::uint32_t>;

Rows rowsLeft(const std::vector<bool>& isPaired, const DeviceTrace& trace)
{
    Rows rows;
    for (std::uint32_t row = 0; row < isPaired.size(); ++row)
        if (!isPaired[row])
            rows.push_back(row);
    std::ranges::stable_sort(rows, std::ranges::greater(), [&](std::uint32_t row) {
        return trace.blocks().requestedBytes[BlockId::older(row)];
    });
    return rows;
}

std::int64_t bytesOf(const Rows& rows, const DeviceTrace& trace)
{
    return std::accumulate(rows.begin(), rows.end(), std::int64_t{ 0 }, [&](std::int64_t sum, std::uint32_t row) {
        return wrapAdd(sum, trace.blocks().requestedBytes[BlockId::older(row)]);
    });
}

} // namespace

OlderPairs pairOlder(const DeviceTrace& first, const DeviceTrace& second, const AlignedRuns& aligned)
{
    const BlockColumns &ours = first.blocks(), &theirs = second.blocks();
    OlderPairs pairs;
    pairs.bytes.resize(ours.olderCount());
    std::vector<bool> isOurs(ours.olderCount()), isTheirs(theirs.olderCount());
    const auto pair = [&](std::uint32_t our, std::uint32_t their) {
        pairs.bytes[our] = theirs.requestedBytes[BlockId::older(their)];
        isOurs[our] = isTheirs[their] = true;
    };
    for (std::uint32_t row = 0; row < aligned.older.size(); ++row)
        if (const std::uint32_t their = aligned.older[row]; their != AlignedRuns::kNone && !isTheirs[their])
            pair(row, their);
    std::multimap<std::int64_t, std::uint32_t> bySize;
    for (const std::uint32_t row : rowsLeft(isTheirs, second))
        bySize.emplace(theirs.requestedBytes[BlockId::older(row)], row);
    for (const std::uint32_t row : rowsLeft(isOurs, first))
        if (const auto same = bySize.find(ours.requestedBytes[BlockId::older(row)]); same != bySize.end()) {
            pair(row, same->second);
            bySize.erase(same);
        }
    const Rows left = rowsLeft(isOurs, first), leftThere = rowsLeft(isTheirs, second);
    if (left.size() == leftThere.size()) {
        for (std::size_t i = 0; i < left.size(); ++i)
            pair(left[i], leftThere[i]);
        return pairs;
    }
    const std::int64_t here = bytesOf(left, first), there = bytesOf(leftThere, second);
    pairs.alone = wrapAdd(here, there);
    if (left.empty()) {
        pairs.besides = there;
        return pairs;
    }
    constexpr double kMost = 1e15; // a block of a damaged recording may have any size
    const double share = here > 0 ? static_cast<double>(there) / static_cast<double>(here) : 0;
    for (const std::uint32_t row : left)
        pairs.bytes[row] = static_cast<std::int64_t>(std::clamp(
            share * static_cast<double>(ours.requestedBytes[BlockId::older(row)]), 0.0, kMost));
    return pairs;
}

} // namespace strata::model
