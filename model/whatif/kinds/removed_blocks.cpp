// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/removed_blocks.h"

#include "model/base/wrap.h"
#include "model/whatif/evidence/site_blocks.h"
#include "model/whatif/kinds/batch.h"

#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>

namespace strata::model {

namespace {

/// Of a library, which has it for good.
bool isWorkspace(const RecordedRun& run, BlockId block)
{
    return run.categories != nullptr && run.categories->of(block).category == Category::Workspace
        && run.trace->blocks().death(block) == BlockColumns::kNever;
}

/// What backward asks for on account of those blocks has no line of the program. A gradient has the size of
/// what it is of: what is as large as one of them that a forward made may be of them.
bool addOfBackward(
    const RecordedRun& run, const std::vector<std::uint32_t>& removed, std::vector<bool>& doubtful)
{
    bool any = false;
    if (run.steps == nullptr)
        return any;
    const BlockColumns& blocks = run.trace->blocks();
    const auto phaseOf = [&](BlockId block) { return run.steps->phaseAt(blocks.birth(block)); };
    boost::unordered_flat_set<std::int64_t> sizes;
    for (const std::uint32_t row : removed)
        if (const BlockId block = BlockId::born(row);
            phaseOf(block) == Phase::Forward || phaseOf(block) == Phase::Recompute)
            sizes.insert(blocks.requestedBytes[block]);
    std::vector<bool> isRemoved(blocks.bornCount());
    for (const std::uint32_t row : removed)
        isRemoved[row] = true;
    for (std::size_t row = 0; !sizes.empty() && row < blocks.bornCount(); ++row)
        if (const BlockId block = BlockId::born(row); !isRemoved[row] && phaseOf(block) == Phase::Backward
            && sizes.contains(blocks.requestedBytes[block])
            && (run.categories == nullptr || run.categories->of(block).category != Category::Gradient))
            any = doubtful[row] = true;
    return any;
}

} // namespace

Result<RemovedBlocks> RemovedBlocks::of(const RecordedRun& run, const std::vector<std::string>& sites)
{
    using Is = SiteBlocks::Is;
    const BlockColumns& blocks = run.trace->blocks();
    std::vector<Is> born(blocks.bornCount(), Is::Elsewhere), older(blocks.olderCount(), Is::Elsewhere);
    const auto join = [](std::vector<Is>& all, const std::vector<Is>& more) {
        for (std::size_t row = 0; row < all.size(); ++row)
            if (all[row] != Is::There && more[row] != Is::Elsewhere)
                all[row] = more[row];
    };
    RemovedBlocks removed;
    for (const std::string& filter : sites) {
        const auto site = blocksOfSite(run, filter);
        if (!site)
            return Failure(site.error());
        join(born, site->born);
        join(older, site->older);
        removed.refused.insert(removed.refused.end(), site->refused.begin(), site->refused.end());
    }
    std::ranges::sort(removed.refused);
    std::vector<bool> doubtful(born.size(), false);
    for (std::size_t row = 0; row < born.size(); ++row) {
        const BlockId block = BlockId::born(row);
        if (born[row] == Is::Elsewhere)
            continue;
        doubtful[row] = born[row] == Is::Unknown || isWorkspace(run, block);
        if (doubtful[row])
            continue;
        removed.rows.push_back(static_cast<std::uint32_t>(row));
        removed.bytes = wrapAdd(removed.bytes, blocks.requestedBytes[block]);
    }
    removed.mayBeOfBackward = addOfBackward(run, removed.rows, doubtful);
    for (std::size_t row = 0; row < doubtful.size(); ++row)
        if (doubtful[row])
            removed.doubtful.push_back(static_cast<std::uint32_t>(row));
    for (std::size_t row = 0; row < older.size(); ++row)
        if (older[row] != Is::Elsewhere)
            removed.olderBytes = wrapAdd(removed.olderBytes, blocks.requestedBytes[BlockId::older(row)]);
    removed.unknownBytes = wrapAdd(removed.olderBytes, mostLiveBytes(*run.trace, doubtful));
    return removed;
}

} // namespace strata::model
