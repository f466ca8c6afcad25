// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

#include "model/analysis/summary/groups.h"
#include "model/live/live_process.h"
#include "model/live/live_session.h"
#include "views/base/background_job.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

/// Bytes of one thing on every rank, and between which of them they differ most.
struct RankSpread {
    enum class Of {
        ReservedPeak,
        RequestedPeak,
        Line, ///< of code, of what is active at each rank's own peak
        NoStack, ///< likewise, what has none
    };
    Of of = Of::Line;
    QString name; ///< for people
    std::int64_t lowestBytes = 0, highestBytes = 0;
    std::size_t lowest = 0, highest = 0; ///< places in LiveRanks::ranks()
    [[nodiscard]] std::int64_t bytes() const { return highestBytes - lowestBytes; }
};

/// What is derived of one rank off the GUI thread. Immutable.
struct RankData {
    std::shared_ptr<const model::Session> session; ///< keeps the trace alive
    std::shared_ptr<const model::DeviceTimeline> timeline; ///< of its device with the highest reserved peak
    std::shared_ptr<const model::GroupTable> byLine;
    model::LiveGroups peakLines; ///< at its peak
    std::int64_t requestedBytes = 0, reservedBytes = 0; ///< now

    [[nodiscard]] const model::DeviceTrace& trace() const { return timeline->trace(); }
    [[nodiscard]] const model::Totals& totals() const { return trace().totals(); }
};

/// The ranks of a job, all of them followed at once, and how they differ. GUI thread only; the destructor
/// waits for nothing.
class LiveRanks : public QObject {
    Q_OBJECT
public:
    struct Rank {
        model::LiveProcess process;
        model::LinkState state = model::LinkState::Connecting;
        std::shared_ptr<const RankData> data; ///< nullptr: nothing yet
    };

    explicit LiveRanks(const std::vector<model::LiveProcess>& processes, QObject* parent = nullptr);
    ~LiveRanks() override;

    [[nodiscard]] const std::vector<Rank>& ranks() const { return m_ranks; }
    /// Reserved and requested peaks, and lines of code; the widest first.
    [[nodiscard]] const std::vector<RankSpread>& spreads() const { return m_spreads; }
    [[nodiscard]] QString rankName(std::size_t place) const; ///< "rank 3", or the process where it has none
    /// Ranks to which a request failed for want of memory.
    [[nodiscard]] std::vector<std::size_t> outOfMemory() const;

Q_SIGNALS:
    void changed(); ///< at most four times a second

private:
    struct Watched {
        std::unique_ptr<model::LiveSession> session;
        std::shared_ptr<const model::Session> derived;
    };
    void look();
    void take(std::vector<std::pair<std::size_t, std::shared_ptr<const RankData>>> newer,
        std::vector<RankSpread> spreads);

    std::vector<Rank> m_ranks;
    std::vector<Watched> m_watched;
    std::vector<RankSpread> m_spreads;
    BackgroundJob m_job{ Earlier::Stop, BackgroundJob::Thread::Beside };
    QTimer m_timer;
};

/// How the ranks differ, the widest spread first; ties by name. Empty for fewer than two with data. Both
/// peaks are among them even if they do not differ; of the lines of code that do, `most` with the widest
/// spread. Any thread.
[[nodiscard]] std::vector<RankSpread> spreadsOf(
    const std::vector<std::shared_ptr<const RankData>>& ranks, std::size_t most);

/// `earlier` of the same rank, or nullptr: what goes on from it costs what is new. nullptr where the session
/// has no device yet. Any thread.
[[nodiscard]] std::shared_ptr<const RankData> rankDataOf(
    std::shared_ptr<const model::Session> session, const RankData* earlier);

} // namespace strata::views
