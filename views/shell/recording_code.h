// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace strata::views {

/// The lines of Python that record a snapshot, as they go to the clipboard.
[[nodiscard]] inline QString recordingCode()
{
    return QStringLiteral(
        "torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks=\"python\")\n"
        "train()  # your program, or a few steps of it\n"
        "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")\n");
}

} // namespace strata::views
