// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include "model/live/live_process.h"
#include "model/live/live_session.h"
#include "views/models/live/live_place.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace strata::views {

class Document;

/// Watches a process, and has a document show it: the source that Document::follow() speaks of.
///
///     LiveSession, a thread of its own -> this -> Document::show()      while it follows
///                                              -> latest()              also while it does not
///
/// While it does not follow, what is shown stands still and nothing is lost: the newest is shown once it
/// follows again. Behind a gap, or where the older half of the events goes,
/// another session begins, and the document with it. GUI thread only; the
/// destructor waits for nothing.
class LiveSource : public QObject {
    Q_OBJECT
public:
    /// `document`, which outlives it, is told to follow. Keeps so many events at most, see LiveSession; 0: as
    /// many as this machine's memory suggests.
    LiveSource(
        Document& document, const LivePlace& place, std::int64_t mostEvents = 0, QObject* parent = nullptr);
    ~LiveSource() override;

    [[nodiscard]] const LivePlace& place() const { return m_place; }
    /// "train.py, rank 3"; the address until the process has told its name.
    [[nodiscard]] QString name() const;
    [[nodiscard]] const model::LiveSession::Status& status() const { return m_status; }
    [[nodiscard]] const std::optional<model::LiveProcess>& process() const { return m_process; }
    [[nodiscard]] bool ended() const; ///< or broken: nothing more comes

    [[nodiscard]] bool isFollowing() const { return m_follows; }
    void setFollowing(bool follows);
    /// All that has come, shown or not; nullptr: nothing yet.
    [[nodiscard]] const std::shared_ptr<const model::Session>& latest() const { return m_status.latest; }
    /// Events of the device that came and are not shown.
    [[nodiscard]] std::int64_t eventsBehind(int device) const;

Q_SIGNALS:
    void changed(); ///< status(), latest() or what follows from them
    void followingChanged();
    /// A request of the process failed for want of memory, for the `count`-th time on the device.
    void outOfMemory(int device, qint64 count);

private:
    class Bridge;
    void take();
    void show();
    void tellOutOfMemories();

    Document& m_document;
    const LivePlace m_place;
    std::shared_ptr<Bridge> m_bridge; // what the session's thread calls
    std::unique_ptr<model::LiveSession> m_session;
    model::LiveSession::Status m_status;
    std::optional<model::LiveProcess> m_process;
    std::shared_ptr<const model::Session> m_shown;
    std::map<int, std::size_t> m_outOfMemories; // that were told, by device
    std::pair<int, std::int64_t> m_began; // what tells the sessions that were shown apart
    bool m_follows = true;
    bool m_endTold = false; // to the document
};

/// "train.py, rank 3 of 8".
[[nodiscard]] QString nameOf(const model::LiveProcess& process);

} // namespace strata::views
