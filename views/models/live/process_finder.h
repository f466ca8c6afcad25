// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include "model/live/live_process.h"
#include "views/base/background_job.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata::views {

/// What a process had on its busiest device at one moment; -1: not known. Of one that the driver alone tells
/// of, what it used stands for reserved.
struct MemorySample {
    std::int64_t atMs = 0; ///< on the finder's clock
    std::int64_t requestedBytes = -1, reservedBytes = -1;
};

/// What a process is known by for as long as it is there: its address, else its number.
[[nodiscard]] std::string keyOf(const model::LiveProcess& process);
/// The device of a process that has the most reserved, or used as far as the driver says; nullptr: nothing is
/// known of any.
[[nodiscard]] const wire::DeviceTotals* busiestDevice(const model::LiveProcess& process);

/// Looks once a second for processes that use a GPU or can be watched, while it is told to, and remembers
/// what they had in the last minutes. Looks off the GUI thread; otherwise GUI thread only.
class ProcessFinder : public QObject {
    Q_OBJECT
public:
    static constexpr std::int64_t kKeptMs = 120'000; ///< of history

    struct Seen {
        model::LiveProcess process;
        std::vector<MemorySample> history; ///< oldest first
    };

    explicit ProcessFinder(QObject* parent = nullptr);

    void setLooking(bool looking);
    [[nodiscard]] bool hasLooked() const { return m_hasLooked; }
    [[nodiscard]] const std::vector<Seen>& processes() const { return m_seen; } ///< by job, rank, number
    /// Why a folder was not looked into; empty: all were.
    [[nodiscard]] const QString& refusals() const { return m_refusals; }
    [[nodiscard]] std::int64_t nowMs() const { return m_clock.elapsed(); }

Q_SIGNALS:
    void changed();

private:
    struct Found {
        std::vector<model::LiveProcess> processes;
        std::string why;
    };
    void look();
    void take(Found found);

    BackgroundJob m_job{ Earlier::Stop, BackgroundJob::Thread::Beside };
    QTimer m_timer;
    QElapsedTimer m_clock;
    std::vector<Seen> m_seen;
    std::map<std::string, std::vector<MemorySample>> m_histories; // by address
    QString m_refusals;
    bool m_hasLooked = false;
};

} // namespace strata::views
