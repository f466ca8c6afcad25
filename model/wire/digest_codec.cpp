// SPDX-License-Identifier: Apache-2.0
#include "model/wire/digest_codec.h"

#include "model/wire/coder.h"

namespace strata::wire {

constexpr auto kStackSumsLayout = [](auto& coder, auto& sums) {
    coder.room(sums, 3, kAsManyAsFit);
    for (auto& sum : sums) {
        coder.id(sum.stack);
        coder.signedVarint(sum.bytes, sum.blocks);
    }
};

constexpr auto kDigestLayout = [](auto& coder, auto& digest) {
    std::uint32_t version = kDigestVersion;
    coder.varint(version);
    coder.require(version == kDigestVersion);
    coder.varint(digest.chunks);
    coder.fixed(digest.chain);
    coder.signedVarint(digest.device);
    coder.varint(digest.events);
    for (auto& count : digest.actions)
        coder.varint(count);
    coder.room(digest.otherActions, 2, kAsManyAsFit);
    for (auto& [name, count] : digest.otherActions) {
        coder.id(name);
        coder.varint(count);
    }
    coder.flag(digest.hasTimes);
    coder.signedVarint(digest.firstTimeNs, digest.peakTimeNs, digest.latestTimeNs);
    coder.signedVarint(digest.backwards, digest.firstBackwards);
    coder.signedVarint(digest.requestedStart, digest.requestedPeak, digest.requestedPeakEvent);
    coder.signedVarint(digest.pendingStart);
    coder.signedVarint(digest.reservedStart, digest.reservedPeak, digest.reservedPeakEvent);
    coder.signedVarint(digest.olderFrees, digest.olderFreedBytes, digest.firstOlderFree, digest.olderBytes);
    coder.signedVarint(digest.peakReserved, digest.peakLeast, digest.peakPending);
    coder.flag(digest.peakIsExact);
    kStackSumsLayout(coder, digest.peak);
    coder.room(digest.outOfMemory, 10, kAsManyAsFit);
    for (auto& oom : digest.outOfMemory) {
        coder.signedVarint(oom.event, oom.asked, oom.deviceFree);
        coder.signedVarint(oom.reserved, oom.requested, oom.freeInSegments, oom.pending);
        coder.flag(oom.freeIsExact);
        coder.id(oom.stack);
        kStackSumsLayout(coder, oom.stacks);
    }
    coder.end();
};

void encodeDigest(const Digest& digest, Bytes& out)
{
    encodeAs(kDigestLayout, out, digest);
}

bool decodeDigest(std::span<const std::byte> payload, Digest& digest)
{
    return decodeAs(kDigestLayout, payload, digest);
}

} // namespace strata::wire
