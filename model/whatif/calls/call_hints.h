// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/change.h"
#include "model/whatif/ask/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// A change that recorded calls alone answer, and that may save memory: nothing has verified it.
struct CallHint {
    Change change; ///< logits=chunks:8, attention=flash or attention=efficient
    std::int64_t heldBytes = 0; ///< requested bytes that its blocks hold at the peak of the deep step
    /// That verifies it, quoted for a shell: by calls (PY stands for a Python with PyTorch), or by the
    /// program.
    std::string command;

    [[nodiscard]] Sentence sentence() const; ///< without the command
};

/// Changes whose blocks hold a twentieth or more of the requested peak, the most bytes first: those of a
/// cross entropy of a linear layer, and scores of attention (S x S) that a softmax between two products or
/// the math kernel makes. The math kernel shows by its sizes, unless tensors of attention have them too, or
/// backward shows another kernel: then it has no hint. Shown by calls of the deep step and the blocks
/// allocated within them; gradients of the same sizes count where backward frees them. Empty: no calls can be
/// made again, they have neither, another step needs more than the deep one, or something takes these tensors
/// that such a change does not make again. capture/dryrun/replay_logits.py and replay_attention.py decide in
/// the end: they may still refuse. Whoever takes the math kernel may have chosen it around the calls, which
/// do not tell that: the program does. `device`: of the command; none: the default one. O(events + rows log
/// rows).
[[nodiscard]] std::vector<CallHint> callHints(
    const DeviceTrace& trace, const std::string& file, std::optional<int> device);

/// The command that tries autocast to bfloat16 by calls. Empty: no calls can be made again, they refuse it
/// without modules, or the program computes in 16 bits already. O(rows + tensors).
[[nodiscard]] std::string autocastCommand(const DeviceTrace& trace, const std::string& file);

/// Attention by the kernel of its hint, then where that may be refused by another; without a hint by flash.
[[nodiscard]] std::vector<Change> attentionToTry(const DeviceTrace& trace);
[[nodiscard]] Change logitsToTry(); ///< in eight chunks

template <> struct Fields<CallHint> {
    static constexpr std::tuple all{
        field("change", Unit::None, "as `--change` takes it",
            [](const CallHint& hint) -> const std::string& { return hint.change.text; }),
        field("held_bytes", Unit::Bytes, "requested bytes that its blocks hold at the peak",
            &CallHint::heldBytes),
        field("text", Unit::None, "the same as a sentence", &CallHint::sentence),
        field("command", Unit::None, "that verifies it; `PY` stands for a Python with PyTorch",
            &CallHint::command),
        field("verified", Unit::None, "always false", [](const CallHint&) { return false; }),
    };
};

/// Peaks of recorded calls that were made again.
struct PeaksByCalls {
    PeakFigures peaks;
    bool isConfirmed = false; ///< unchanged, the calls reserve what was recorded
    std::string note; ///< why that is doubtful; empty: it is not
};

template <> struct Fields<PeaksByCalls> {
    static constexpr std::tuple all{
        field("peaks", Unit::None, "of the calls", &PeaksByCalls::peaks),
        field("confirmed", Unit::None, "unchanged, the calls reserve what was recorded",
            &PeaksByCalls::isConfirmed),
        field("note", Unit::None, "why that is doubtful; null: it is not",
            [](const PeaksByCalls& of) { return unlessEmpty(of.note); }),
    };
};

} // namespace strata::model
