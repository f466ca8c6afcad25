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

std::string whole(double number)
{
    return fmt::format("{:.0f}", number);
}

std::string fraction(double number)
{
    return fmt::format("{:.6g}", number);
}

std::string boundWord(const model::Roofline& roofline, const model::RooflineRow& row)
{
    const auto isCompute = roofline.isComputeBound(row);
    return !isCompute ? "" : *isCompute ? "compute" : "memory";
}

void writeRooflineRow(JsonWriter& json, const model::Roofline& roofline, const model::RooflineRow& row,
    const model::StringTable& strings)
{
    json.beginObject().member("name", strings[row.name]).key("shapes");
    if (row.shapes.valid())
        json.value(model::shapesText(strings[row.shapes]));
    else
        json.null();
    json.member("calls", row.calls).member("gpu_ns", row.deviceNs).key("kind");
    if (!row.isKnown) {
        json.null().endObject();
        return;
    }
    json.value(model::costKindWord(row.kind)).member("type", model::numberTypeWord(row.type));
    json.key("flops").plain(whole(row.flops)).key("done_flops").plain(whole(row.doneFlops));
    json.key("bytes").plain(whole(row.bytes)).key("intensity").plain(fraction(row.intensity()));
    json.key("flops_per_second").plain(whole(row.flopRate()));
    json.key("bytes_per_second").plain(whole(row.byteRate())).key("bound");
    if (const std::string bound = boundWord(roofline, row); !bound.empty())
        json.value(bound);
    else
        json.null();
    json.key("least_ns").plain(fmt::format("{:.1f}", row.leastNs));
    json.key("roof_ns").plain(fmt::format("{:.1f}", row.roofNs)).endObject();
}

void writeCard(JsonWriter& json, const model::Card* card)
{
    json.key("card");
    if (!card) {
        json.null();
        return;
    }
    json.beginObject().member("name", card->name).key("bytes_per_second").plain(whole(card->bandwidth));
    json.key("flops_per_second").beginObject();
    for (int i = 0; i < model::kNumberTypes; ++i)
        if (const auto type = static_cast<model::NumberType>(i); card->peak(type) > 0)
            json.key(model::numberTypeWord(type)).plain(whole(card->peak(type)));
    json.endObject().member("source", card->peakSource).endObject();
}

std::string cut(std::string_view text)
{
    const std::string all = printable(text);
    return all.size() <= kLongestRooflineShapes ? all : all.substr(0, kLongestRooflineShapes - 3) + "...";
}

} // namespace

void writeRoofline(
    JsonWriter& json, const model::Roofline& roofline, const model::StringTable& strings, std::size_t most)
{
    json.beginObject().member("device", roofline.device).member("device_name", roofline.deviceName);
    json.member("lack", model::rooflineLackWord(roofline.lack));
    writeCard(json, roofline.card);
    json.member("span_ns", roofline.spanNs)
        .member("work_ns", roofline.workNs)
        .member("known_ns", roofline.knownNs)
        .member("no_operator_ns", roofline.noOperatorNs)
        .member("no_shapes_ns", roofline.noShapesNs)
        .member("unknown_ns", roofline.unknownNs)
        .member("elsewhere_ns", roofline.elsewhereNs)
        .member("known_calls", roofline.knownCalls)
        .member("unknown_calls", roofline.unknownCalls);
    json.key("flops").plain(whole(roofline.flops)).key("done_flops").plain(whole(roofline.doneFlops));
    json.key("bytes").plain(whole(roofline.bytes)).key("least_ns");
    json.plain(fmt::format("{:.1f}", roofline.leastNs)).key("mfu");
    if (roofline.utilisation)
        json.plain(fraction(*roofline.utilisation));
    else
        json.null();
    json.key("rows").beginArray();
    for (std::size_t i = 0; i < std::min(most, roofline.rows.size()); ++i)
        writeRooflineRow(json, roofline, roofline.rows[i], strings);
    json.endArray().endObject();
}

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
            boundWord(roofline, row),
            row.doneFlops > 0 ? std::string(model::numberTypeWord(row.type)) : std::string(), name });
    }
    table.print(out);
}

} // namespace strata::cli
