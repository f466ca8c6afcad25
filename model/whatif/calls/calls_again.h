// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/call_list.h"
#include "model/whatif/ask/change.h"
#include "model/whatif/ask/scenario.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// The call list of a device, never nullptr. Kind::Refused: it has none that can be called again, and why.
[[nodiscard]] Result<const CallList*> callListOf(const DeviceTrace& trace);

/// Changes that calls tell: autocast, types, kernels of attention, losses in chunks, checkpoints; with a
/// second recording, the batch.
[[nodiscard]] bool isToldByCalls(const Change& change);

/// What a trial of the calls finds out, where their types change: a recording does not tell it.
struct CallsLearnt {
    std::vector<std::uint32_t> follow; ///< rows that name the type of another tensor, not a fixed one
    std::vector<std::uint32_t> open; ///< rows that may be such, or not: nothing tells
    bool hasCasts = false; ///< of some tensors it is not known how long the program has them
    /// Of what was allocated and freed before the training (by place): calls of the step, of the module that
    /// is entered in that row; what they take and leave by tensor and number of its block.
    struct Earlier {
        std::uint32_t first = 0, end = 0, row = 0;
        std::vector<std::array<std::uint32_t, 2>> inputs, left;
    };
    std::vector<Earlier> earlier;
    std::int64_t otherBytes = 0; ///< of that, at most at once, bytes that are not known for what they were
};

/// The calls of the same program with another batch.
struct CallsWith {
    const DeviceTrace* trace = nullptr;
    const CallList* list = nullptr;
    EventIndex firstStep = 0;
    std::int64_t items = 0;
};

struct CallsAsked {
    /// Where a step of the training begins amid the calls (of several optimizers, a deep step lies between
    /// two steps of the first): what is made first is from there on. 0: nowhere.
    EventIndex stepWithin = 0;
    std::optional<CallsWith> with; ///< which sizes follow the batch, it tells
    std::int64_t itemsBefore = 0, itemsAfter = 0; ///< where there is one
    std::string trial; ///< the calls are tried once, and what that tells goes to this file; empty: made
    CallsLearnt learnt;
    bool late = false; ///< whoever may still have such a tensor has it; else nobody
};

/// What a child needs to make the calls of a recorded step again, over and over, with changes (autocast,
/// types): a JSON document that capture/dryrun/replay_calls.py reads. It names operators on the list of
/// call_operators.h and values, nothing else; every argument was read and written anew. With the calls go the
/// blocks that lived as the step began, by age, and what the program allocated and freed before its first
/// training step, which begins at `firstStep`: segments lie as that left them. O(rows + blocks + events).
/// Kind::Refused: what cannot be called again, or which change the calls do not tell.
[[nodiscard]] Result<std::string> callsToRun(const DeviceTrace& trace, const CallList& list,
    std::span<const Change> changes, EventIndex firstStep, const CallsAsked& asked = {});

/// Where the first training step of a run begins; 0: its steps are not known, or were not asked for.
[[nodiscard]] EventIndex firstStepOf(const RecordedRun& run);
/// CallsAsked::stepWithin of it.
[[nodiscard]] EventIndex stepWithinCalls(const RecordedRun& run);

/// What a trial wrote. Kind::NotFound: nothing that could be read.
[[nodiscard]] Result<CallsLearnt> callsLearnt(const std::string& path);

} // namespace strata::model
