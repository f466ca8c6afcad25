// SPDX-License-Identifier: Apache-2.0
#include "model/wire/link/link_chunks.h"

#include <limits>
#include <xxhash.h>

namespace strata::wire {

namespace {

std::uint32_t number32(ByteReader& in)
{
    const std::uint64_t value = in.varint();
    if (value > std::numeric_limits<std::uint32_t>::max())
        in.fail();
    return in.ok() ? static_cast<std::uint32_t>(value) : 0;
}

std::int32_t device(ByteReader& in)
{
    const std::int64_t value = in.signedVarint();
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
        in.fail();
    return in.ok() ? static_cast<std::int32_t>(value) : 0;
}

std::size_t deviceCount(ByteReader& in, std::size_t leastBytes)
{
    const std::size_t count = in.count(leastBytes);
    if (count > kMostLinkDevices)
        in.fail();
    return in.ok() ? count : 0;
}

} // namespace

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

void encodeJoin(const Join& join, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(join.version);
    writer.text(join.token);
    writer.byte(join.follows ? 1 : 0);
    writer.fixed(join.recording);
    writer.varint(join.chunks);
}

bool decodeJoin(std::span<const std::byte> payload, Join& join)
{
    ByteReader in(payload);
    join = {};
    join.version = number32(in);
    if (!in.ok() || join.version != kLinkVersion)
        return in.ok();
    join.token = in.text();
    join.follows = in.byte() != 0;
    join.recording = in.fixed<std::uint64_t>();
    join.chunks = number32(in);
    return in.ok();
}

void encodeGreeting(const Greeting& greeting, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(greeting.version);
    writer.fixed(greeting.recording);
    writer.varint(greeting.next);
    writer.varint(greeting.facts.size());
    for (const auto& [key, value] : greeting.facts) {
        writer.text(key);
        writer.text(value);
    }
}

bool decodeGreeting(std::span<const std::byte> payload, Greeting& greeting)
{
    ByteReader in(payload);
    greeting = {};
    greeting.version = number32(in);
    if (!in.ok() || greeting.version != kLinkVersion)
        return in.ok();
    greeting.recording = in.fixed<std::uint64_t>();
    greeting.next = number32(in);
    const std::size_t facts = in.count(2);
    for (std::size_t i = 0; i < facts && in.ok(); ++i) {
        const std::string key(in.text());
        greeting.facts.emplace_back(key, in.text());
    }
    return in.ok();
}

void encodeTotals(const Totals& totals, Bytes& out)
{
    ByteWriter writer(out);
    writer.signedVarint(totals.timeNs);
    writer.signedVarint(totals.eventsPerSecond);
    writer.varint(totals.devices.size());
    for (const DeviceTotals& each : totals.devices) {
        writer.signedVarint(each.device);
        writer.varint(each.events);
        writer.signedVarint(each.usedBytes);
        writer.signedVarint(each.reservedBytes);
        writer.signedVarint(each.requestedBytes);
    }
}

bool decodeTotals(std::span<const std::byte> payload, Totals& totals)
{
    ByteReader in(payload);
    totals = {};
    totals.timeNs = in.signedVarint();
    totals.eventsPerSecond = in.signedVarint();
    const std::size_t devices = deviceCount(in, 5);
    for (std::size_t i = 0; i < devices && in.ok(); ++i) {
        DeviceTotals each;
        each.device = device(in);
        each.events = in.varint();
        each.usedBytes = in.signedVarint();
        each.reservedBytes = in.signedVarint();
        each.requestedBytes = in.signedVarint();
        totals.devices.push_back(each);
    }
    return in.ok();
}

void encodeGap(const Gap& gap, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(gap.next);
    writer.varint(gap.states);
    writer.varint(gap.missing.size());
    for (const Gap::Missing& each : gap.missing) {
        writer.signedVarint(each.device);
        writer.varint(each.events);
    }
}

bool decodeGap(std::span<const std::byte> payload, Gap& gap)
{
    ByteReader in(payload);
    gap = {};
    gap.next = number32(in);
    gap.states = number32(in);
    const std::size_t devices = deviceCount(in, 2);
    for (std::size_t i = 0; i < devices && in.ok(); ++i) {
        const std::int32_t number = device(in);
        gap.missing.push_back({ number, in.varint() });
    }
    return in.ok();
}

void encodeRefusal(const Refusal& refusal, Bytes& out)
{
    ByteWriter writer(out);
    writer.byte(static_cast<std::uint8_t>(refusal.reason));
    writer.text(refusal.text);
}

bool decodeRefusal(std::span<const std::byte> payload, Refusal& refusal)
{
    ByteReader in(payload);
    const std::uint8_t reason = in.byte();
    refusal.reason = reason <= static_cast<std::uint8_t>(Refusal::Reason::Full)
        ? static_cast<Refusal::Reason>(reason)
        : Refusal::Reason::Other;
    refusal.text = in.text();
    return in.ok();
}

} // namespace strata::wire
