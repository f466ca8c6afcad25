// SPDX-License-Identifier: Apache-2.0
#include "model/wire/digest_codec.h"

namespace strata::wire {
namespace {

void putStacks(ByteWriter& out, std::span<const StackSum> stacks)
{
    out.varint(stacks.size());
    for (const StackSum& sum : stacks) {
        out.id(sum.stack);
        out.signedVarint(sum.bytes);
        out.signedVarint(sum.blocks);
    }
}

void getStacks(ByteReader& in, std::vector<StackSum>& stacks)
{
    stacks.resize(in.count(3));
    for (StackSum& sum : stacks)
        sum = { in.id(), in.signedVarint(), in.signedVarint() };
}

/// The figures that are plain numbers, in their order in the stream.
template <class Digest> auto numbersOf(Digest& d)
{
    return std::array{ &d.firstTimeNs, &d.peakTimeNs, &d.latestTimeNs, &d.backwards, &d.firstBackwards,
        &d.requestedStart, &d.requestedPeak, &d.requestedPeakEvent, &d.pendingStart, &d.reservedStart,
        &d.reservedPeak, &d.reservedPeakEvent, &d.olderFrees, &d.olderFreedBytes, &d.firstOlderFree,
        &d.olderBytes, &d.peakReserved, &d.peakLeast, &d.peakPending };
}
template <class Oom> auto numbersOfOom(Oom& oom)
{
    return std::array{ &oom.event, &oom.asked, &oom.deviceFree, &oom.reserved, &oom.requested,
        &oom.freeInSegments, &oom.pending };
}

} // namespace

void encodeDigest(const Digest& digest, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(kDigestVersion);
    writer.varint(digest.chunks);
    writer.fixed(digest.chain);
    writer.signedVarint(digest.device);
    writer.varint(digest.events);
    for (const std::uint64_t count : digest.actions)
        writer.varint(count);
    writer.varint(digest.otherActions.size());
    for (const auto& [name, count] : digest.otherActions) {
        writer.id(name);
        writer.varint(count);
    }
    writer.byte(digest.hasTimes ? 1 : 0);
    for (const std::int64_t* const number : numbersOf(digest))
        writer.signedVarint(*number);
    writer.byte(digest.peakIsExact ? 1 : 0);
    putStacks(writer, digest.peak);
    writer.varint(digest.outOfMemory.size());
    for (const Digest::OutOfMemory& oom : digest.outOfMemory) {
        for (const std::int64_t* const number : numbersOfOom(oom))
            writer.signedVarint(*number);
        writer.byte(oom.freeIsExact ? 1 : 0);
        writer.id(oom.stack);
        putStacks(writer, oom.stacks);
    }
}

bool decodeDigest(std::span<const std::byte> payload, Digest& digest)
{
    digest = {};
    ByteReader in(payload);
    if (in.varint() != kDigestVersion)
        return false;
    digest.chunks = in.varint();
    digest.chain = in.fixed<std::uint64_t>();
    const std::int64_t device = in.signedVarint();
    digest.events = in.varint();
    if (!in.ok() || device < INT32_MIN || device > INT32_MAX)
        return false;
    digest.device = static_cast<std::int32_t>(device);
    for (std::uint64_t& count : digest.actions)
        count = in.varint();
    digest.otherActions.resize(in.count(2));
    for (auto& [name, count] : digest.otherActions) {
        name = in.id();
        count = in.varint();
    }
    digest.hasTimes = in.byte() == 1;
    for (std::int64_t* const number : numbersOf(digest))
        *number = in.signedVarint();
    digest.peakIsExact = in.byte() == 1;
    getStacks(in, digest.peak);
    digest.outOfMemory.resize(in.count(10));
    for (Digest::OutOfMemory& oom : digest.outOfMemory) {
        for (std::int64_t* const number : numbersOfOom(oom))
            *number = in.signedVarint();
        oom.freeIsExact = in.byte() == 1;
        oom.stack = in.id();
        getStacks(in, oom.stacks);
    }
    return in.ok() && in.atEnd();
}

} // namespace strata::wire
