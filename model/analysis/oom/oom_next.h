// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/oom/oom_evidence.h"
#include "model/base/answer_fields.h"

#include <string>
#include <vector>

namespace strata::model {

/// One thing to do after an out-of-memory.
struct NextStep {
    Sentence what;
    std::string command; ///< for a shell, or settings before a command; empty: an edit of the program
    bool verified = false; ///< by a replay, or by figures of the recording; else an estimate
    bool isSetting = false; ///< `command` is that of OomVerdict::advice
};

/// Three at most, the best first; never empty. First what ends the cause: settings that serve the request in
/// a replay for fragments, unless needsMore(), and an edit for all else, by what `evidence` shows to hold
/// enough. A recording that ends in the failure does not show what the program needs: then a dry run on a
/// larger simulated card and a plan for the memory of this one are the last two. `file`: the recording, which
/// names the file of the dry run.
[[nodiscard]] std::vector<NextStep> nextSteps(const DeviceTrace& trace, const OomVerdict& verdict,
    const OomEvidence& evidence, const std::string& file);

template <> struct Fields<NextStep> {
    static constexpr std::tuple all{
        field("text", Unit::None, "what to do", &NextStep::what),
        field("command", Unit::None, "to be copied; null: an edit of the program",
            [](const NextStep& step) { return unlessEmpty(step.command); }),
        field("verified", Unit::None,
            "whether a replay or figures of the recording show that it serves the request; else an estimate",
            &NextStep::verified),
    };
};

} // namespace strata::model
