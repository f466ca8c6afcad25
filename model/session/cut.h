// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/chunks/kept_rows.h"
#include "model/session/scrub.h"
#include "model/session/session.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace strata::model {

/// Rows of the tables of a recording as they are numbered in a cut of it.
struct CutTables {
    std::vector<StringId> strings;
    std::vector<FrameId> frames;
    std::vector<StackId> stacks;
    std::vector<std::uint16_t> streams, pools;
};

struct CutOptions {
    std::map<int, EventSpan> spans; ///< of the devices to keep; others are left out
    Scrub scrub;
    CutTables* tables = nullptr; ///< gets the new numbers of all rows: all of them are kept then
    bool endFromTrace = false; ///< where the end is unknown: for formats that cannot say so
};

struct Cut {
    std::unique_ptr<Recording> recording; ///< to be saved: its figures are made when it is opened again
    Scrubber::Counts scrubbed;
    std::int64_t userKept = 0; ///< notes, named ranges and filters that go with it
    std::int64_t userOutside = 0; ///< left out: not wholly within the events that are kept
    std::int64_t userDropped
        = 0; ///< left out because of Scrub::notes; rules and filters with names, see there
};

/// A part of a session as a recording of its own, which opens with the figures that the session has:
/// requested, pending and reserved at every kept event to the byte, groups included, since the state before
/// the first kept event goes with it. A span that ends before the trace does ends in a state made from the
/// trace: its rounded sizes, and so allocated and active at its end, are lower bounds (Recording::cut, a note
/// of `strata check`). Strings and stacks that nothing kept refers to are left out, unless their numbers are
/// asked for. What other chunks say goes with it within the same events or times (ChunkKind::keep). Notes and
/// named ranges go with it, numbered like the events, all filters but those by a module where modules are
/// dropped, and categories of the user's own unless paths, names or modules are dropped, which they name.
/// O(events kept + blocks).
[[nodiscard]] Cut cut(const Session& session, const CutOptions& options);

} // namespace strata::model
