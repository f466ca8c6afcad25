// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/live/terminal/live_picture.h"
#include "app/cli/live/terminal/live_verdict.h"
#include "app/cli/live/terminal/picture.h"
#include "model/live/live_session.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/rounded_curves.h"
#include "model/trace/filter/grouping.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::cli {

/// Rounded sizes of all blocks of a device, as a replay of the allocator found them.
struct Replayed {
    std::shared_ptr<const model::Session> session; ///< keeps the trace of the curves
    int device = 0;
    model::BlockColumn<std::uint32_t> rounding;
    std::optional<model::RoundedCurves> curves; ///< none: the replay does not lead to what was recorded
};

/// What a user looks at of a process that is watched: which device, which time, what the tables show. Makes
/// the Picture of it from the newest generation of a LiveSession; what is derived goes on from what was
/// derived before. One thread.
class LiveView {
public:
    using Clock = std::chrono::steady_clock;
    explicit LiveView(model::LinkAddress address);

    /// The newest of the link, at `now`.
    void take(const model::LiveSession::Status& status, std::shared_ptr<const model::Session> latest,
        Clock::time_point now);

    // What the keys do.
    void togglePause();
    void scroll(double pictures); ///< back in time: -1 is as much as the picture shows
    void toBegin();
    void toEnd();
    void togglePeak();
    bool toOutOfMemory(); ///< false: there is none
    void zoom(int steps); ///< 1: less time
    void showAll();
    void nextDevice();
    void groupBy(model::Grouping grouping);
    void scrollLines(int rows);
    void toggleHelp() { m_help = !m_help; }
    [[nodiscard]] bool showsHelp() const { return m_help; }

    [[nodiscard]] Picture picture(GridSize size, Clock::time_point now);

    /// The generation that is shown; none before the first events.
    [[nodiscard]] const std::shared_ptr<const model::Session>& shown() const { return m_shown; }
    [[nodiscard]] std::string suggestedName() const; ///< of a file: "train.py-4711.strata"

    /// As LiveVerdict has them.
    using Place = LiveVerdict::Place;
    [[nodiscard]] std::optional<Place> toJudge() const { return m_verdict.toJudge(); }
    void setCause(int device, model::EventIndex event, std::string sentence)
    {
        m_verdict.setCause(device, event, std::move(sentence));
    }
    /// What a replay would tell more of: session and device.
    [[nodiscard]] std::optional<Place> toReplay() const;
    void setReplayed(std::shared_ptr<const Replayed> replayed) { m_replayed = std::move(replayed); }

private:
    enum class At : std::uint8_t { End, Time, Peak, OutOfMemory };
    struct Derived { ///< of one device of one generation
        std::shared_ptr<const model::Session> session;
        const model::DeviceTrace* trace = nullptr;
        std::shared_ptr<const model::DeviceTimeline> timeline;
        std::vector<std::shared_ptr<const model::GroupTable>> tables; ///< those that were asked for
    };

    [[nodiscard]] const model::DeviceTrace* trace() const;
    void derive();
    [[nodiscard]] bool outOfMemorySince() const;
    [[nodiscard]] const model::GroupTable& groups(model::Grouping grouping);
    [[nodiscard]] std::int64_t nowNs(Clock::time_point now) const; ///< of the process, since the epoch
    [[nodiscard]] PictureWindow window(int columns, std::int64_t nowNs) const;
    [[nodiscard]] model::EventIndex instant(const PictureWindow& window, int columns) const;
    void addLines(Picture& picture, model::EventIndex event);
    [[nodiscard]] std::string modeText(std::int64_t instantNs, std::int64_t nowNs) const;
    [[nodiscard]] const Replayed* replayed() const;

    const model::LinkAddress m_address;
    model::LiveSession::Status m_status;
    Clock::time_point m_totalsAt{}; // when the latest totals came
    std::shared_ptr<const model::Session> m_latest, m_shown;
    std::optional<Derived> m_derived;
    std::shared_ptr<const Replayed> m_replayed;
    LiveVerdict m_verdict;

    std::optional<int> m_device; // chosen, or the first that had events
    bool m_paused = false;
    std::int64_t m_pausedNs = 0; // what was now then
    At m_at = At::End;
    std::int64_t m_endNs = 0; // of the picture, where it is At::Time
    std::size_t m_zoom; // of kWindows
    std::int64_t m_widthNs = 0; // of the last picture; scrolling moves by it
    std::int64_t m_lastNowNs = 0;
    model::Grouping m_grouping = model::Grouping::Line;
    int m_firstLine = 0;
    bool m_help = false;
};

} // namespace strata::cli
