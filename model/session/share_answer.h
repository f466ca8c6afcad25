// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/session/cut.h"

#include <cstdint>
#include <map>
#include <ranges>
#include <string>

namespace strata::model {

/// What `strata share` answers. Points to the session that was cut.
struct ShareAnswer {
    std::string file; ///< that was written
    std::int64_t fileBytes;
    const Session* session;
    std::map<int, EventSpan> spans; ///< of the devices that were kept
    Scrub scrub;
    Cut cut; ///< its recording is gone

    /// Rows of what the program called in its deep steps.
    [[nodiscard]] std::int64_t callsInSession() const;
    [[nodiscard]] std::int64_t droppedCalls() const { return scrub.calls ? callsInSession() : 0; }
};

struct SharedDevice {
    const DeviceTrace* trace;
    EventSpan kept;
};

template <> struct Fields<SharedDevice> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the device",
            [](const SharedDevice& of) { return of.trace->device(); }),
        field("first_event", Unit::Event, "first event that was kept",
            within(&SharedDevice::kept, &EventSpan::first)),
        field("last_event", Unit::Event, "last event that was kept",
            within(&SharedDevice::kept, &EventSpan::last)),
        field("of_events", Unit::Count, "events of the device in the recording",
            [](const SharedDevice& of) { return of.trace->eventCount(); }),
    };
};

template <> struct Fields<Scrubber::Counts> {
    static constexpr std::tuple all{
        field("paths", Unit::Count, "source files without their directories", &Scrubber::Counts::paths),
        field("names", Unit::Count, "texts without names of users and hosts", &Scrubber::Counts::names),
        field("facts", Unit::Count, "facts about the host and the process", &Scrubber::Counts::facts),
        field("commands", Unit::Count, "command lines", &Scrubber::Counts::commands),
        field("metadata", Unit::Count, "texts that the program wrote beside events",
            &Scrubber::Counts::metadata),
        field("modules", Unit::Count, "names of modules and parameters", &Scrubber::Counts::modules),
        field("calls", Unit::Count, "calls of deep steps",
            [](const Scrubber::Counts&, const ShareAnswer& in) { return in.droppedCalls(); }),
        field("notes", Unit::Count, "notes, named ranges and filters",
            [](const Scrubber::Counts&, const ShareAnswer& in) { return in.cut.userDropped; }),
    };
};

template <> struct Fields<ShareAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const ShareAnswer&) { return 1; }),
        field("file", Unit::None, "the session that was written", &ShareAnswer::file),
        field("file_bytes", Unit::Bytes, "its size", &ShareAnswer::fileBytes),
        field("devices", Unit::None, "events that were kept, of each device",
            [](const ShareAnswer& answer) {
                return answer.spans | std::views::transform([session = answer.session](const auto& span) {
                    return SharedDevice{ session->find(span.first), span.second };
                });
            }),
        field("dropped", Unit::None, "how much was left out because of `--drop`",
            within(&ShareAnswer::cut, &Cut::scrubbed)),
        field("notes_kept", Unit::Count, "notes, named ranges and filters in the new session",
            within(&ShareAnswer::cut, &Cut::userKept)),
        field("notes_outside", Unit::Count,
            "notes, named ranges and filters outside the events that were kept",
            within(&ShareAnswer::cut, &Cut::userOutside)),
    };
};

} // namespace strata::model
