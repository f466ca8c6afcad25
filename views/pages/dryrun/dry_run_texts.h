// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/models/programs/dry_run_job.h"

namespace strata::views {

enum class DryRunVerdict { Fits, DoesNotFit, Failed, Unused, Cancelled, NotStarted };
[[nodiscard]] DryRunVerdict verdictOf(const DryRunOutcome& outcome);

/// What came of a dry run: the sentence that stands first, and what explains it. Figures in it are those of
/// the outcome's result, written as the command line writes them.
struct DryRunWords {
    QString verdict; ///< rich text, figures bold; what programs wrote is escaped
    QString more; ///< plain text; may be empty
    [[nodiscard]] QString plainVerdict() const; ///< without markup
};
[[nodiscard]] DryRunWords wordsOf(const DryRunOutcome& outcome);

/// What --on-each-card adds to a request.
[[nodiscard]] QString eachCardCost(const DryRunRequest& request);
/// "12 s", "3 min 5 s".
[[nodiscard]] QString elapsedText(qint64 milliseconds);
/// "GPU 0", "rank 3 of 8, GPU 0".
[[nodiscard]] QString deviceText(const DryRunDevice& device);
/// When a peak was: "step 2, event 1,234"; empty where it is not known.
[[nodiscard]] QString momentText(qint64 event, qint64 steps);
/// How a program ended: "ended with status 7", "was ended by signal 9 (Killed)".
[[nodiscard]] QString endText(int exitStatus);
/// "CUDA context: 274 MiB to 426 MiB a process, not counted".
[[nodiscard]] QString outsideText(const model::Assumption& one);

} // namespace strata::views
