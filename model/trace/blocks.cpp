// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/blocks.h"

namespace strata::model {

BlockId BlockColumns::pushOlder(
    std::uint64_t at, std::int64_t requested, StackId allocStack, StreamIndex onStream, PoolIndex inPool)
{
    const BlockId id = BlockId::older(olderCount());
    address.older.push_back(at);
    requestedBytes.older.push_back(requested);
    rounding.older.push_back(kRoundingUnknown);
    freeRequested.older.push_back({});
    freeCompleted.older.push_back({});
    stack.older.push_back(allocStack);
    stream.older.push_back(onStream);
    pool.older.push_back(inPool);
    pendingAtStart.push_back(0);
    return id;
}

void BlockColumns::extendBornTo(std::size_t count)
{
    address.born.extendTo(count, 0);
    requestedBytes.born.extendTo(count, 0);
    rounding.born.extendTo(count, kRoundingUnknown);
    alloc.extendTo(count, {});
    freeRequested.born.extendTo(count, {});
    freeCompleted.born.extendTo(count, {});
    stack.born.extendTo(count, {});
    stream.born.extendTo(count, kNoIndex);
    pool.born.extendTo(count, kNoIndex);
}

std::size_t BlockColumns::bytesResident() const
{
    return address.bytesResident() + requestedBytes.bytesResident() + rounding.bytesResident()
        + alloc.bytesResident() + freeRequested.bytesResident() + freeCompleted.bytesResident()
        + stack.bytesResident() + stream.bytesResident() + pool.bytesResident()
        + pendingAtStart.bytesResident();
}

} // namespace strata::model
