// SPDX-License-Identifier: Apache-2.0
#include "model/wire/link/link_chunks.h"

#include "model/wire/coder.h"

#include <xxhash.h>

namespace strata::wire {

void renumberChunk(std::span<std::byte> chunk, std::uint32_t sequence)
{
    constexpr std::size_t kSequenceAt = 16, kHashAt = 24;
    const auto put = [&](std::size_t at, auto value) {
        for (std::size_t i = 0; i < sizeof value; ++i)
            chunk[at + i] = static_cast<std::byte>(value >> (8 * i));
    };
    put(kSequenceAt, sequence);
    const auto stored = chunk.subspan(kHeadBytes);
    put(kHashAt,
        static_cast<std::uint64_t>(
            XXH3_64bits_withSeed(stored.data(), stored.size(), XXH3_64bits(chunk.data(), kHashAt))));
}

constexpr auto kJoinLayout = []<class Coder>(Coder& coder, auto& join) {
    coder.varint(join.version);
    if (Coder::kReads && join.version != kLinkVersion)
        return;
    coder.text(join.token);
    coder.anyFlag(join.follows);
    coder.fixed(join.recording);
    coder.varint(join.chunks);
};

void encodeJoin(const Join& join, Bytes& out)
{
    encodeAs(kJoinLayout, out, join);
}

bool decodeJoin(std::span<const std::byte> payload, Join& join)
{
    join = {};
    return decodeAs(kJoinLayout, payload, join);
}

constexpr auto kGreetingLayout = []<class Coder>(Coder& coder, auto& greeting) {
    coder.varint(greeting.version);
    if (Coder::kReads && greeting.version != kLinkVersion)
        return;
    coder.fixed(greeting.recording);
    coder.varint(greeting.next);
    coder.rows(
        greeting.facts, 2, [&](auto& fact) { coder.text(fact.first, fact.second); }, kAsManyAsFit);
};

void encodeGreeting(const Greeting& greeting, Bytes& out)
{
    encodeAs(kGreetingLayout, out, greeting);
}

bool decodeGreeting(std::span<const std::byte> payload, Greeting& greeting)
{
    greeting = {};
    return decodeAs(kGreetingLayout, payload, greeting);
}

constexpr auto kTotalsLayout = [](auto& coder, auto& totals) {
    coder.signedVarint(totals.timeNs, totals.eventsPerSecond);
    coder.rows(
        totals.devices, 5,
        [&](auto& each) {
            coder.signedVarint(each.device);
            coder.varint(each.events);
            coder.signedVarint(each.usedBytes, each.reservedBytes, each.requestedBytes);
        },
        kMostLinkDevices);
};

void encodeTotals(const Totals& totals, Bytes& out)
{
    encodeAs(kTotalsLayout, out, totals);
}

bool decodeTotals(std::span<const std::byte> payload, Totals& totals)
{
    return decodeAs(kTotalsLayout, payload, totals);
}

constexpr auto kGapLayout = [](auto& coder, auto& gap) {
    coder.varint(gap.next, gap.states);
    coder.rows(
        gap.missing, 2,
        [&](auto& each) {
            coder.signedVarint(each.device);
            coder.varint(each.events);
        },
        kMostLinkDevices);
};

void encodeGap(const Gap& gap, Bytes& out)
{
    encodeAs(kGapLayout, out, gap);
}

bool decodeGap(std::span<const std::byte> payload, Gap& gap)
{
    return decodeAs(kGapLayout, payload, gap);
}

constexpr auto kRefusalLayout = [](auto& coder, auto& refusal) {
    coder.codeOr(refusal.reason, static_cast<std::size_t>(Refusal::Reason::Full) + 1, Refusal::Reason::Other);
    coder.text(refusal.text);
};

void encodeRefusal(const Refusal& refusal, Bytes& out)
{
    encodeAs(kRefusalLayout, out, refusal);
}

bool decodeRefusal(std::span<const std::byte> payload, Refusal& refusal)
{
    return decodeAs(kRefusalLayout, payload, refusal);
}

} // namespace strata::wire
