// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/blocks.h"

namespace strata::model {

BlockId BlockColumns::push(std::uint64_t at, std::int64_t requested, EventId allocEvent, StackId allocStack,
    StreamIndex onStream, PoolIndex inPool)
{
    const BlockId id{ static_cast<std::uint32_t>(size()) };
    address.push_back(at);
    requestedBytes.push_back(requested);
    rounding.push_back(kRoundingUnknown);
    alloc.push_back(allocEvent);
    freeRequested.push_back({});
    freeCompleted.push_back({});
    stack.push_back(allocStack);
    stream.push_back(onStream);
    pool.push_back(inPool);
    return id;
}

void BlockColumns::extendTo(std::size_t count)
{
    address.extendTo(count, 0);
    requestedBytes.extendTo(count, 0);
    rounding.extendTo(count, kRoundingUnknown);
    alloc.extendTo(count, {});
    freeRequested.extendTo(count, {});
    freeCompleted.extendTo(count, {});
    stack.extendTo(count, {});
    stream.extendTo(count, kNoIndex);
    pool.extendTo(count, kNoIndex);
}

std::size_t BlockColumns::bytesResident() const
{
    return address.bytesResident() + requestedBytes.bytesResident() + rounding.bytesResident()
        + alloc.bytesResident() + freeRequested.bytesResident() + freeCompleted.bytesResident()
        + stack.bytesResident() + stream.bytesResident() + pool.bytesResident()
        + pendingAtStart.capacity() / 8;
}

} // namespace strata::model
