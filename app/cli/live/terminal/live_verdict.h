// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/live/terminal/picture.h"
#include "model/live/live_session.h"
#include "model/timeline/device_timeline.h"
#include "model/trace/filter/grouping.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace strata::cli {

/// What a summary says of an out-of-memory as soon as it happens, on whichever device, and of all when it has
/// ended. Made once for what it judges. One thread.
class LiveVerdict {
public:
    using Place = std::pair<std::shared_ptr<const model::Session>, int>; ///< session and device

    struct Shown {
        const std::shared_ptr<const model::Session>& session;
        const std::shared_ptr<const model::DeviceTimeline>& timeline; ///< of the device that is shown
        std::function<const model::GroupTable&()> byLine; ///< likewise
    };
    /// `isOver`: nothing more comes.
    void addTo(Picture& picture, const Shown& shown, bool isOver);

    /// The out-of-memory that nobody has judged yet. What comes of it: setCause().
    [[nodiscard]] std::optional<Place> toJudge() const;
    void setCause(int device, model::EventIndex event, std::string sentence);

private:
    struct Verdict {
        std::shared_ptr<const model::Session> session; ///< that it was made for
        std::int64_t outOfMemories = -1;
        int device = -1;
        model::EventIndex event = -1; ///< of the last out-of-memory
        std::string text;
        bool isBad = false;
    };
    struct Cause {
        int device = -1;
        model::EventIndex event = -1;
        std::string sentence;
    };

    Verdict m_verdict;
    Cause m_cause;
};

} // namespace strata::cli
