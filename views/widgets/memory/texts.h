// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/units.h"
#include "model/timeline/clock.h"

#include <QString>

namespace strata::views::figures {

/// Figures as the pages write them.
[[nodiscard]] inline QString bytesText(std::int64_t bytes)
{
    return QString::fromStdString(model::formatBytes(bytes));
}
[[nodiscard]] inline QString exactBytesText(std::int64_t bytes)
{
    return QString::fromStdString(model::formatExactBytes(bytes));
}
[[nodiscard]] inline QString countText(std::int64_t count)
{
    return QString::fromStdString(model::formatCount(count));
}
[[nodiscard]] inline QString durationText(std::int64_t nanoseconds)
{
    return QString::fromStdString(model::formatDuration(nanoseconds));
}

/// "57 %"; "<1 %" for a little, "0.4 %" is more than a share needs to say.
[[nodiscard]] QString shareText(std::int64_t part, std::int64_t whole);

/// "event 41,207", "before the first event".
[[nodiscard]] QString eventText(model::EventIndex event);
/// "event 41,207 · 12.384 s"; the event alone where there are no times.
[[nodiscard]] QString instantText(const model::Clock& clock, model::EventIndex event);

/// `text` shortened at its front ("...nn/attention.py:57") to `most` characters.
[[nodiscard]] QString shortened(const QString& text, qsizetype most);

} // namespace strata::views::figures
