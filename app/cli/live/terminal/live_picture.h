// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/live/terminal/picture.h"
#include "model/live/live_session.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/rounded_curves.h"

#include <cstdint>
#include <optional>
#include <string>

namespace strata::cli {

// A watched process and its devices as figures and words of a Picture. `nowNs` and `startNs`: nanoseconds
// since the epoch, by the clock of that process. Without state; any thread.

/// The time that the columns of a plot show.
struct PictureWindow {
    std::int64_t beginNs = 0, columnNs = 1; ///< since the epoch; of one column
};

/// Which column an event lies in, if it is shown.
[[nodiscard]] std::optional<int> columnOf(
    const model::Clock& clock, model::EventIndex event, const PictureWindow& window, int columns);
/// "12.3 s", "2:04", "1:02:03": a moment since the first event, as precise as a column.
[[nodiscard]] std::string momentText(std::int64_t ns, std::int64_t columnNs);

void describeProcess(Picture& picture, const model::LinkAddress& address,
    const model::LiveSession::Status& status, int device, std::int64_t nowNs);
/// Figures after an event. `curves`: of a replay, which may end earlier; nullptr: no replay.
void addFigures(Picture& picture, const model::DeviceTimeline& timeline, const model::RoundedCurves* curves,
    model::EventIndex event);
/// The curves, without the mark of the instant.
void addPlot(Picture& picture, const model::DeviceTimeline& timeline, const model::RoundedCurves* curves,
    const PictureWindow& window, int columns, std::int64_t nowNs);
/// `startNs`: time of the first event.
void addAxis(Picture& picture, const PictureWindow& window, int columns, std::int64_t startNs, bool endsNow);
/// The `most` latest up to an event.
void addEvents(Picture& picture, const model::DeviceTimeline& timeline, model::EventIndex event, int most);
/// `shown`: nullptr before the first events.
void addWarnings(Picture& picture, const model::LiveSession::Status& status, const model::DeviceTrace* shown,
    bool isPaused);

} // namespace strata::cli
