// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/held_report.h"

#include "app/cli/text.h"
#include "model/base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace strata::cli {

void writeHeld(JsonWriter& json, const std::vector<model::HeldLine>& held)
{
    const auto told = [](const std::string& line) {
        return line.empty() ? std::nullopt : std::optional<std::string_view>(line);
    };
    json.key("held").beginArray();
    for (const model::HeldLine& one : held) {
        json.beginObject()
            .member("line", one.line)
            .member("last_use", told(one.lastUse))
            .member("let_go", told(one.letGo))
            .member("blocks", one.blocks)
            .member("bytes", one.bytes)
            .member("held_ns", one.heldNs)
            .endObject();
    }
    json.endArray();
}

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
