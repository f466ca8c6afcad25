// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/held_report.h"

#include "app/cli/text.h"
#include "model/base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace strata::cli {

/// "  12.0 MiB of train.py:57 in 3 blocks, used last at train.py:58, until train.py:61, 4.2 ms later"
void printHeld(Output& out, const std::vector<model::HeldLine>& held)
{
    constexpr std::size_t kShown = 8;
    if (!held.empty())
        out.line("  a step holds beyond their last use:");
    for (std::size_t i = 0; i < std::min(held.size(), kShown); ++i) {
        const model::HeldLine& one = held[i];
        std::string line = fmt::format("    {} of {}{}", model::formatBytes(one.bytes), printable(one.line),
            one.blocks > 1 ? fmt::format(" in {} blocks", model::formatCount(one.blocks)) : "");
        if (one.lastUse == "backward" || one.lastUse == "optimizer") // no line of the program
            line += ", used last by the " + one.lastUse;
        else if (one.lastUse == "nothing")
            line += ", used by no operator of the recorded step";
        else if (!one.lastUse.empty())
            line += ", used last at " + printable(one.lastUse);
        line += one.letGo.empty() ? ", for good" : ", until " + printable(one.letGo);
        if (one.heldNs)
            line += fmt::format(", {} later", model::formatDuration(*one.heldNs));
        out.line(line);
    }
    if (held.size() > kShown)
        out.line(fmt::format("    ... {} more: --json", held.size() - kShown));
}

} // namespace strata::cli
