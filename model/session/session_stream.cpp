// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/session_stream.h"

#include "model/readers/guarded.h"
#include "model/readers/session/session_reading.h"

#include <algorithm>
#include <array>

namespace strata::model {

/// What came and was not taken yet.
class SessionStream::Inbox final : public ByteSource {
public:
    /// `bytes` stay where they are until keepRest().
    void add(std::span<const std::byte> bytes) { m_new = bytes; }
    void keepRest()
    {
        m_kept.erase(m_kept.begin(), m_kept.begin() + static_cast<std::ptrdiff_t>(m_taken));
        m_taken = 0;
        m_kept.insert(m_kept.end(), m_new.begin(), m_new.end());
        m_new = {};
    }

    /// All of a chunk; or something else, of which the reader says what is wrong.
    [[nodiscard]] bool holdsChunk() const
    {
        std::array<std::byte, wire::kHeadBytes> bytes{};
        wire::ChunkHead head;
        const wire::ChunkStatus status = wire::readHead(std::span(bytes).first(peek(bytes)), head);
        return status == wire::ChunkStatus::Ok ? size() >= wire::kHeadBytes + head.storedBytes
                                               : status != wire::ChunkStatus::Incomplete;
    }

    Result<std::size_t> read(std::span<std::byte> into) override
    {
        const std::size_t got = peek(into);
        const std::size_t old = std::min(got, m_kept.size() - m_taken);
        m_taken += old;
        m_new = m_new.subspan(got - old);
        return got;
    }
    std::uint64_t fileBytesDone() const override { return 0; }
    std::uint64_t fileBytesTotal() const override { return 0; }

private:
    [[nodiscard]] std::size_t size() const { return m_kept.size() - m_taken + m_new.size(); }
    /// Copies what comes next; how much of it there was.
    std::size_t peek(std::span<std::byte> into) const
    {
        const auto kept = std::span(m_kept).subspan(m_taken);
        const std::size_t old = std::min(into.size(), kept.size());
        const std::size_t fresh = std::min(into.size() - old, m_new.size());
        std::ranges::copy(kept.first(old), into.begin());
        std::ranges::copy(m_new.first(fresh), into.subspan(old).begin());
        return old + fresh;
    }

    std::vector<std::byte> m_kept; // the begin of a chunk
    std::size_t m_taken = 0; // of these
    std::span<const std::byte> m_new;
};

SessionStream::SessionStream(const Options& options)
    : m_inbox(std::make_unique<Inbox>())
    , m_reading(std::make_unique<SessionReading>(m_session.recording(), *m_inbox, options.memoryLimit))
{
    m_session.recording().path = options.path;
}

SessionStream::~SessionStream() = default;

Result<void> SessionStream::read(bool isEnd)
{
    const Result<void> result = guarded([&]() -> Result<void> {
        while (isEnd || m_inbox->holdsChunk()) {
            const Result<bool> more = m_reading->next();
            if (!more)
                return Failure(more.error());
            m_news = true;
            if (!*more)
                return isEnd ? m_reading->finish() : Result<void>{};
        }
        return {};
    });
    m_ended = isEnd || m_reading->isStopped() || !result;
    return result;
}

Result<void> SessionStream::feed(std::span<const std::byte> bytes)
{
    m_session.recording().fileBytes += bytes.size();
    if (m_ended)
        return {};
    m_inbox->add(bytes);
    const Result<void> result = read(false);
    m_inbox->keepRest();
    return result;
}

Result<void> SessionStream::finish()
{
    return m_ended ? Result<void>{} : read(true);
}

Result<std::shared_ptr<const Session>> SessionStream::publish(const Progress& progress)
{
    m_news = false;
    m_reading->settle();
    return m_session.append(
        [this](const DeviceRecording& device) {
            const Recording& recording = m_session.recording();
            return m_ended ? isEndKnown(recording, device)
                           : !recording.truncation && m_reading->isEndKnown(device);
        },
        progress);
}

void SessionStream::goOnFrom(SessionPart part)
{
    part.recording->path = m_session.recording().path;
    part.recording->fileBytes = m_session.recording().fileBytes;
    m_session.replace(std::move(*part.recording));
    m_reading->renumber({ part.tables.strings, part.tables.frames, part.tables.stacks, part.tables.streams,
        part.tables.pools, part.left });
}

} // namespace strata::model
