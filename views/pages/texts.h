// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/models/document.h"

namespace strata::views::text {

/// Figures as every part of the window writes them: model/base/units.h, as QString.
[[nodiscard]] QString bytes(std::int64_t bytes); ///< "11.0 GiB"
[[nodiscard]] QString exactBytes(std::int64_t bytes); ///< "1,234,567 B"
[[nodiscard]] QString count(std::int64_t count); ///< "1,234,567"
[[nodiscard]] QString duration(std::int64_t nanoseconds); ///< "3.2 ms"
[[nodiscard]] QString address(std::uint64_t address);
/// Bytes of a file that claim to be UTF-8; what is not is replaced.
[[nodiscard]] QString file(std::string_view text);
/// `text` as one argument of a POSIX shell.
[[nodiscard]] QString shellQuoted(const QString& text);
/// "42.3 %", "< 0.1 %".
[[nodiscard]] QString share(std::int64_t part, std::int64_t whole);

/// "12.384 s" since the first event; empty without times.
[[nodiscard]] QString time(const DeviceData& device, model::EventIndex event);
/// "event 41,207 at 12.384 s", "before the first event".
[[nodiscard]] QString event(const DeviceData& device, model::EventIndex event);
/// The same at a time since the first event, if there is one.
[[nodiscard]] QString event(model::EventIndex event, std::optional<std::int64_t> sinceStartNs);
/// Why a page that needs the events of a session shows nothing while there is no more of it than its outline:
/// a title and a sentence; both empty where that is not so.
struct Waiting {
    QString title;
    QString reason;
};
[[nodiscard]] Waiting waiting(const Document& document);
/// What the status bar says of a selection: an instant with its values, a range with its peak.
[[nodiscard]] QString selection(const DeviceData& device, const EventRange& range);

} // namespace strata::views::text
