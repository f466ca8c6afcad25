// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/older_pairs.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace strata::model {

namespace {

using Sizes = std::vector<std::int64_t>;

/// Rows that have no partner yet, the largest first.
std::vector<std::uint32_t> rowsLeft(const std::vector<bool>& isPaired, const Sizes& sizes)
{
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < isPaired.size(); ++row)
        if (!isPaired[row])
            rows.push_back(row);
    std::ranges::stable_sort(rows, std::ranges::greater(), [&](std::uint32_t row) { return sizes[row]; });
    return rows;
}

std::int64_t bytesOf(const std::vector<std::uint32_t>& rows, const Sizes& sizes)
{
    return std::accumulate(rows.begin(), rows.end(), std::int64_t{ 0 },
        [&](std::int64_t sum, std::uint32_t row) { return wrapAdd(sum, sizes[row]); });
}

Sizes olderSizes(const DeviceTrace& trace)
{
    Sizes sizes;
    for (std::size_t row = 0; row < trace.blocks().olderCount(); ++row)
        sizes.push_back(trace.blocks().requestedBytes[BlockId::older(row)]);
    return sizes;
}

/// `partners` by row of ours: that of theirs, or AlignedRuns::kNone.
OlderPairs pairAll(const Sizes& ours, const Sizes& theirs, const std::vector<std::uint32_t>& partners)
{
    OlderPairs pairs;
    pairs.bytes.resize(ours.size());
    std::vector<bool> isOurs(ours.size()), isTheirs(theirs.size());
    const auto pair = [&](std::uint32_t our, std::uint32_t their) {
        pairs.bytes[our] = theirs[their];
        isOurs[our] = isTheirs[their] = true;
    };
    for (std::uint32_t row = 0; row < partners.size(); ++row)
        if (const std::uint32_t their = partners[row]; their != AlignedRuns::kNone && !isTheirs[their])
            pair(row, their);
    std::multimap<std::int64_t, std::uint32_t> bySize;
    for (const std::uint32_t row : rowsLeft(isTheirs, theirs))
        bySize.emplace(theirs[row], row);
    for (const std::uint32_t row : rowsLeft(isOurs, ours))
        if (const auto same = bySize.find(ours[row]); same != bySize.end()) {
            pair(row, same->second);
            bySize.erase(same);
        }
    const std::vector<std::uint32_t> left = rowsLeft(isOurs, ours), leftThere = rowsLeft(isTheirs, theirs);
    if (left.size() == leftThere.size()) {
        for (std::size_t i = 0; i < left.size(); ++i)
            pair(left[i], leftThere[i]);
        return pairs;
    }
    const std::int64_t here = bytesOf(left, ours), there = bytesOf(leftThere, theirs);
    pairs.alone = wrapAdd(here, there);
    if (left.empty()) {
        pairs.besides = there;
        return pairs;
    }
    constexpr double kMost = 1e15; // a block of a damaged recording may have any size
    const double share = here > 0 ? static_cast<double>(there) / static_cast<double>(here) : 0;
    for (const std::uint32_t row : left)
        pairs.bytes[row]
            = static_cast<std::int64_t>(std::clamp(share * static_cast<double>(ours[row]), 0.0, kMost));
    return pairs;
}

} // namespace

OlderPairs pairSizes(const std::vector<std::int64_t>& ours, const std::vector<std::int64_t>& theirs)
{
    return pairAll(ours, theirs, {});
}

OlderPairs pairOlder(const DeviceTrace& first, const DeviceTrace& second, const AlignedRuns& aligned)
{
    return pairAll(olderSizes(first), olderSizes(second), aligned.older);
}

} // namespace strata::model
