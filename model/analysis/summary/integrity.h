// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/trace/findings.h"

#include <limits>
#include <span>
#include <tuple>
#include <vector>

namespace strata::model {

/// What does not add up in a recording, and what is worth knowing of it. Points to the findings of its trace.
struct Integrity {
    std::vector<const Finding*> breaches;
    std::vector<const Finding*> notes;

    [[nodiscard]] bool exact() const { return breaches.empty(); }
};

/// Of the findings that show at these events; both ends count.
[[nodiscard]] Integrity integrityOf(std::span<const Finding> findings,
    EventIndex from = std::numeric_limits<EventIndex>::min(),
    EventIndex to = std::numeric_limits<EventIndex>::max());

template <> struct Fields<Finding> {
    static constexpr std::tuple all{
        field("check", Unit::None, "what was checked, as a word",
            [](const Finding& finding) { return checkName(finding.check); }),
        field("event", Unit::Event, "where it shows; -1: at the start", &Finding::event),
        field("bytes", Unit::Bytes, "how much of it", &Finding::bytes),
        field("cause", Unit::None, "the likely cause", &Finding::cause),
    };
};

template <> struct Fields<Integrity> {
    static constexpr std::tuple all{
        field("exact", Unit::None, "no breach was found", &Integrity::exact),
        field("breaches", Unit::None, "where figures of the recording contradict each other",
            &Integrity::breaches),
        field("notes", Unit::None, "what some figures rest on", &Integrity::notes),
    };
};

} // namespace strata::model
