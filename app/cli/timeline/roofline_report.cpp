// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/timeline/roofline_report.h"

#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/base/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

namespace {

constexpr std::size_t kLongestRooflineShapes = 60;

std::string cut(std::string_view text)
{
    const std::string all = printable(text);
    return all.size() <= kLongestRooflineShapes ? all : all.substr(0, kLongestRooflineShapes - 3) + "...";
}

} // namespace

void printRoofline(Output& out, const model::Roofline& roofline, const model::StringTable& strings,
    bool isSimulated, std::size_t most)
{
    if (roofline.lack == model::RooflineLack::Work)
        return;
    out.line("\nwhat operators make of the GPU, by their time on it");
    printSentences(out, model::sayRoofline(roofline, isSimulated));
    if (roofline.knownCalls == 0)
        return;
    Table table({ { "GPU" }, { "calls" }, { "TFLOP/s" }, { "GB/s" }, { "FLOP/B" }, { "of its roof" },
        { "bound", Table::Align::Left }, { "type", Table::Align::Left },
        { "operator", Table::Align::Left } });
    for (std::size_t i = 0; i < std::min(most, roofline.rows.size()); ++i) {
        const model::RooflineRow& row = roofline.rows[i];
        const std::string name = row.shapes.valid()
            ? fmt::format("{} {}", printable(strings[row.name]), cut(model::shapesText(strings[row.shapes])))
            : printable(strings[row.name]);
        if (!row.isKnown) {
            table.add({ model::formatDuration(row.deviceNs), model::formatCount(row.calls), "", "", "", "",
                "not known", "", name });
            continue;
        }
        const bool isTimed = !isSimulated && row.deviceNs > 0;
        table.add({ model::formatDuration(row.deviceNs), model::formatCount(row.calls),
            isTimed && row.doneFlops > 0 ? fmt::format("{:.2f}", row.flopRate() / 1e12) : std::string(),
            isTimed ? fmt::format("{:.0f}", row.byteRate() / 1e9) : std::string(),
            row.doneFlops > 0 && row.bytes > 0 ? fmt::format("{:.1f}", row.intensity()) : std::string(),
            isTimed && row.roofNs > 0
                ? fmt::format("{:.0f} %", 100 * row.roofNs / static_cast<double>(row.deviceNs))
                : std::string(),
            std::string(roofline.boundWord(row)),
            row.doneFlops > 0 ? std::string(model::numberTypeWord(row.type)) : std::string(), name });
    }
    table.print(out);
}

} // namespace strata::cli
