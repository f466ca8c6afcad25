// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/live/viewer_link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <sys/socket.h>

namespace strata::agent {

namespace {

constexpr std::size_t kTurnBytes = 1 << 20; // then it is another viewer's turn
constexpr std::int64_t kFirstPauseNs = 1'000'000'000, kMostPauseNs = 30'000'000'000;

/// Takes as long whatever of them is the same.
bool isSame(std::string_view a, std::string_view b)
{
    unsigned different = a.size() != b.size();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    return different == 0;
}

} // namespace

bool ViewerLink::read(LiveHost& host, std::string& complaint)
{
    std::array<std::byte, 4096> buffer;
    const ssize_t got = recv(m_socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0)
        return false;
    if (m_state != State::Joining) {
        complaint = "a viewer said more than it may, and was refused";
        return false;
    }
    m_in.insert(m_in.end(), buffer.begin(), buffer.begin() + got);
    wire::ChunkHead head;
    const wire::ChunkStatus status = wire::readHead(m_in, head);
    if (status == wire::ChunkStatus::Incomplete)
        return true;
    if (status != wire::ChunkStatus::Ok || head.type != wire::kJoin
        || head.unpackedBytes > wire::kMostJoinBytes || head.storedBytes > wire::kMostJoinBytes) {
        complaint = "somebody connected who is no Strata";
        return false;
    }
    if (m_in.size() < wire::kHeadBytes + head.storedBytes)
        return true;
    wire::Bytes payload;
    wire::Join wanted;
    const std::span<const std::byte> bytes(m_in);
    if (wire::unpack(head, bytes, bytes.subspan(wire::kHeadBytes), payload) != wire::ChunkStatus::Ok
        || !wire::decodeJoin(payload, wanted)) {
        complaint = "somebody connected who is no Strata";
        return false;
    }
    m_in = {};
    join(wanted, host, complaint);
    return true;
}

void ViewerLink::refuse(wire::Refusal::Reason reason, std::string text)
{
    m_state = State::Leaving;
    wire::appendLinkChunk(wire::kRefusal, wire::encodeRefusal, { reason, std::move(text) }, m_out);
}

void ViewerLink::join(const wire::Join& join, LiveHost& host, std::string& complaint)
{
    using Reason = wire::Refusal::Reason;
    if (m_needsToken && (join.version != wire::kLinkVersion || !isSame(join.token, host.token))) {
        complaint = "somebody connected over TCP without the right token";
        return refuse(Reason::Token, "the token is not the one of this recording");
    }
    if (join.version != wire::kLinkVersion) {
        complaint = "a viewer of another version was refused";
        return refuse(Reason::Version,
            "this process speaks version " + std::to_string(wire::kLinkVersion) + " of the link, not "
                + std::to_string(join.version));
    }
    if (join.follows && host.viewers >= host.mostViewers) {
        complaint = "a viewer was refused: " + std::to_string(host.mostViewers) + " look on already";
        return refuse(Reason::Full, std::to_string(host.mostViewers) + " viewers look on already");
    }
    m_state = join.follows ? State::Following : State::Leaving;
    wire::Greeting greeting = host.greeting;
    const bool goesOn = join.follows && join.chunks > 0 && join.recording == greeting.recording
        && host.store->seek(m_cursor, join.chunks);
    const bool fromTheFirst = !goesOn && join.follows && host.store->seek(m_cursor, 0);
    greeting.next = m_cursor.next;
    wire::appendLinkChunk(wire::kGreeting, wire::encodeGreeting, greeting, m_out);
    wire::appendLinkChunk(wire::kTotals, wire::encodeTotals, host.totals, m_out);
    if (join.follows && !goesOn && !fromTheFirst)
        startLate(host);
}

void ViewerLink::startLate(LiveHost& host)
{
    const wire::Gap gap = host.store->startLate(m_cursor);
    wire::appendLinkChunk(wire::kGap, wire::encodeGap, gap, m_out);
}

/// Something to send, if there is any. False: nothing can be read for it any more.
bool ViewerLink::fill(LiveHost& host, std::int64_t nowNs, bool isEnd)
{
    m_out.clear();
    m_sent = 0;
    if (!m_cursor.isAmidChunk() && nowNs - m_totalsNs >= kTotalsNs) {
        m_totalsNs = nowNs;
        wire::appendLinkChunk(wire::kTotals, wire::encodeTotals, host.totals, m_out);
    }
    switch (host.store->fetch(m_cursor, kSliceBytes, m_out)) {
    case ChunkStore::Fetched::Some:
        break;
    case ChunkStore::Fetched::NothingYet:
        m_pauseNs = 0;
        break;
    case ChunkStore::Fetched::Dropped:
        // It is too slow for what is kept: totals are all it gets for a while, then it begins anew.
        if (isEnd || nowNs - m_startNs >= m_pauseNs) {
            m_startNs = nowNs;
            m_pauseNs = std::clamp(2 * m_pauseNs, kFirstPauseNs, kMostPauseNs);
            startLate(host);
        }
        break;
    case ChunkStore::Fetched::Failed:
        return false;
    }
    return true;
}

bool ViewerLink::write(LiveHost& host, std::int64_t nowNs, bool isEnd)
{
    m_more = false;
    for (std::size_t sent = 0; sent < kTurnBytes;) {
        if (!isFull()) {
            if (m_state == State::Joining)
                return true;
            if (m_state == State::Leaving)
                return m_out.empty();
            if (!fill(host, nowNs, isEnd))
                return false;
            if (m_out.empty())
                return !isEnd;
        }
        const ssize_t count
            = send(m_socket, m_out.data() + m_sent, m_out.size() - m_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
        m_sent += static_cast<std::size_t>(count);
        sent += static_cast<std::size_t>(count);
        m_takenNs = nowNs;
        if (m_state == State::Leaving && !isFull())
            return false;
    }
    m_more = true;
    return true;
}

} // namespace strata::agent
