// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/cut.h"
#include "model/session/growing_session.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace strata::model {

class SessionReading;

/// A part of a session, as a recording that the rest of its source can go on with.
struct SessionPart {
    std::unique_ptr<Recording> recording;
    CutTables tables; ///< the numbers of all rows in it
    std::map<int, std::uint64_t> left; ///< events before it that are not in it, by device
};

/// A session whose bytes come little by little, from a recorder that is followed or a file that is still
/// written, as generations of a GrowingSession:
///
///     bytes ->  feed()     [ chunk ][ chunk ][ chu|     a chunk that is cut waits for the rest
///               publish()  a generation of all chunks so far
///               finish()   nothing more comes: the next generation is what a file of all the bytes gives
///
/// Damage ends what is read, as it does in a file: Recording::truncation says where, and what came before
/// stays. One thread feeds and publishes, any may ask for latest().
class SessionStream {
public:
    struct Options {
        std::string path; ///< where the bytes come from: Recording::path
        std::uint64_t memoryLimit = UINT64_MAX; ///< refuses what unpacks to more bytes
    };
    explicit SessionStream(const Options& options);
    SessionStream()
        : SessionStream(Options{})
    {
    }
    ~SessionStream();

    /// Takes the next bytes, as many as there are; costs what the chunks hold that they make whole. An error
    /// if it is no session, one of a newer format, or too large: nothing more is taken then.
    [[nodiscard]] Result<void> feed(std::span<const std::byte> bytes);

    /// Nothing more comes. An error if what came is no session.
    [[nodiscard]] Result<void> finish();

    /// Since the last publish(), something came that the next generation has and the last one has not.
    [[nodiscard]] bool hasNews() const { return m_news; }
    /// GrowingSession::append(): what it costs, and how it fails.
    [[nodiscard]] Result<std::shared_ptr<const Session>> publish(const Progress& progress = {});
    /// Goes on with a part of the last generation, in the place of all that came: the next one is of a
    /// session that began later. Only right behind a publish(). The next publish() costs O(events kept).
    void goOnFrom(SessionPart part);
    /// The newest generation; none before the first.
    [[nodiscard]] std::shared_ptr<const Session> latest() const { return m_session.latest(); }

private:
    class Inbox;
    [[nodiscard]] Result<void> read(bool isEnd);

    GrowingSession m_session;
    std::unique_ptr<Inbox> m_inbox;
    std::unique_ptr<SessionReading> m_reading;
    bool m_ended = false; // by finish(), damage or an error
    bool m_news = false;
};

} // namespace strata::model
