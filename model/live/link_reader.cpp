// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/link_reader.h"

#include <utility>

namespace strata::model {

namespace {

constexpr std::size_t kMostLinkBytes = std::size_t{ 4 } << 20; // a greeting has a command line, no more
constexpr std::size_t kWorthMoving = std::size_t{ 1 } << 16;

} // namespace

void LinkReader::feed(std::span<const std::byte> bytes)
{
    if (m_broken)
        return;
    if (m_taken == m_bytes.size() || m_taken > kWorthMoving) {
        m_bytes.erase(m_bytes.begin(), m_bytes.begin() + static_cast<std::ptrdiff_t>(m_taken));
        m_taken = 0;
    }
    m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
}

LinkReader::Item LinkReader::broken(Sentence why)
{
    m_broken = true;
    m_problem = std::move(why);
    m_bytes = {};
    m_taken = 0;
    m_chunk = {};
    return Item::Broken;
}

LinkReader::Item LinkReader::next()
{
    while (true)
        if (const std::optional<Item> item = step())
            return *item;
}

/// Nothing where a chunk was passed over.
std::optional<LinkReader::Item> LinkReader::step()
{
    if (m_broken)
        return Item::Broken;
    const auto rest = std::span<const std::byte>(m_bytes).subspan(m_taken);
    switch (wire::readHead(rest, m_head)) {
    case wire::ChunkStatus::Ok:
        break;
    case wire::ChunkStatus::Incomplete:
        return Item::None;
    case wire::ChunkStatus::Newer:
        return broken(
            say("the process was started with a newer Strata (format %1): use that version or a later "
                "one to look on",
                m_head.major));
    case wire::ChunkStatus::Damaged:
        return broken(say("what it sends is no recording"));
    }
    if (wire::isLinkType(m_head.type) && m_head.unpackedBytes > kMostLinkBytes)
        return broken(say("what it sends is no recording"));
    const std::size_t size = wire::kHeadBytes + m_head.storedBytes;
    if (rest.size() < size)
        return Item::None;
    m_chunk = rest.first(size);
    m_taken += size;
    if (m_refused)
        return broken(say("what it sends is no recording"));
    return wire::isLinkType(m_head.type) ? takeLinkChunk() : takeChunk();
}

std::optional<LinkReader::Item> LinkReader::takeLinkChunk()
{
    const auto damaged = [&] { return broken(say("a part of what it sends is damaged")); };
    if (wire::unpack(m_head, m_chunk, m_chunk.subspan(wire::kHeadBytes), m_payload) != wire::ChunkStatus::Ok)
        return damaged();
    const bool opens = m_head.type == wire::kGreeting || m_head.type == wire::kRefusal;
    if (opens == m_greeted)
        return broken(say("what it sends is no recording"));
    if (m_head.type == wire::kGreeting) {
        if (!wire::decodeGreeting(m_payload, m_greeting))
            return damaged();
        if (m_greeting.version != wire::kLinkVersion)
            return broken(say("it speaks version %1 of the link, this Strata version %2: use the Strata that "
                              "the process was started with",
                m_greeting.version, wire::kLinkVersion));
        m_greeted = true;
        m_next = m_greeting.next;
        return Item::Greeting;
    }
    if (m_head.type == wire::kRefusal) {
        m_refused = true;
        return wire::decodeRefusal(m_payload, m_refusal) ? Item::Refusal : damaged();
    }
    if (m_head.type == wire::kTotals)
        return wire::decodeTotals(m_payload, m_totals) ? Item::Totals : damaged();
    if (m_head.type == wire::kGap) {
        if (!wire::decodeGap(m_payload, m_gap))
            return damaged();
        m_next = m_gap.next;
        m_statesLeft = m_gap.states;
        return Item::Gap;
    }
    return std::nullopt; // of a kind to come
}

LinkReader::Item LinkReader::takeChunk()
{
    if (!m_greeted)
        return broken(say("what it sends is no recording"));
    if (wire::checkStored(m_head, m_chunk, m_chunk.subspan(wire::kHeadBytes)) != wire::ChunkStatus::Ok)
        return broken(say("a part of what it sends is damaged"));
    m_isState = m_statesLeft > 0;
    if (m_isState)
        --m_statesLeft;
    else if (m_head.sequence != m_next++)
        return broken(say("a part of what it sends is missing"));
    return Item::Chunk;
}

} // namespace strata::model
