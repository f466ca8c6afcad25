// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/removed_blocks.h"

#include "model/base/wrap.h"
#include "model/whatif/batch.h"
#include "model/whatif/site_blocks.h"

#include <algorithm>

namespace strata::model {

namespace {

/// Of a library, which has it for good.
bool isWorkspace(const RecordedRun& run, BlockId block)
{
    return run.categories != nullptr && run.categories->of(block).category == Category::Workspace
        && run.trace->blocks().death(block) == BlockColumns::kNever;
}

} // namespace

Result<RemovedBlocks> RemovedBlocks::of(const RecordedRun& run, const std::vector<Change>& changes)
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
    for (const Change& change : changes) {
        if (change.kind != Change::Kind::Remove)
            continue;
        const auto site = blocksOfSite(run, change.value);
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
        (doubtful[row] ? removed.doubtful : removed.rows).push_back(static_cast<std::uint32_t>(row));
        if (!doubtful[row])
            removed.bytes = wrapAdd(removed.bytes, blocks.requestedBytes[block]);
    }
    for (std::size_t row = 0; row < older.size(); ++row)
        if (older[row] != Is::Elsewhere)
            removed.olderBytes = wrapAdd(removed.olderBytes, blocks.requestedBytes[BlockId::older(row)]);
    removed.unknownBytes = wrapAdd(removed.olderBytes, mostLiveBytes(*run.trace, doubtful));
    return removed;
}

} // namespace strata::model
