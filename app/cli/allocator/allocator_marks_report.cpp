// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/allocator_marks_report.h"

#include "app/cli/open.h"
#include "app/cli/text.h"
#include "model/analysis/work/join/allocator_marks.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

void printAllocatorMarks(Output& out, const std::vector<model::AllocatorMark>& marks, std::int64_t startNs)
{
    if (marks.empty())
        return;
    const model::AllocatorMarkSums sums = model::sumsOf(marks);
    const auto times
        = [](std::int64_t count) { return model::sayCounted("%1 time", "%1 times", count).text(); };
    const bool isRead = std::ranges::any_of(marks, &model::AllocatorMark::isRead);
    if (sums.taken + sums.givenBack > 0)
        out.line(fmt::format("  {}the allocator took memory of the driver {} ({}) and gave some back {} ({})",
            isRead ? "as far as the profiler read it, " : "", times(sums.taken),
            model::formatBytes(sums.takenBytes), times(sums.givenBack),
            model::formatBytes(sums.givenBackBytes)));
    for (const model::AllocatorMark& mark : marks)
        if (mark.isOutOfMemory())
            out.line(fmt::format("  out of memory on {} at t:{:.6f}: asked for {}{}", deviceName(mark.device),
                static_cast<double>(model::wrapSub(mark.timeNs, startNs)) / 1e9,
                model::formatBytes(mark.bytes),
                mark.freeBytes ? fmt::format(", {} were free", model::formatBytes(*mark.freeBytes)) : ""));
}

} // namespace strata::cli
