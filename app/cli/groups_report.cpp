// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/groups_report.h"

#include "app/cli/answer_json.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/trace/filter/function_names.h"
#include "model/trace/frames.h"
#include "model/trace/stack_fields.h"

#include <fmt/format.h>

namespace strata::cli {

void writeFrames(JsonWriter& json, const model::Recording& recording, model::StackId stack)
{
    json.beginArray();
    for (const model::FrameId id : recording.stacks.stack(stack))
        writeJson(json, model::FrameIn{ &recording, id });
    json.endArray();
}

void writeSite(JsonWriter& json, const model::Recording& recording, model::StackId site)
{
    writeJson(json, model::StackIn{ &recording, site });
}

std::string frameLine(const model::Recording& recording, model::FrameId id)
{
    const std::string function = printable(model::frameFunction(recording, id));
    const std::string place = model::frameLabel(recording, id);
    const std::string label = printable(function.empty() ? model::withoutLongArguments(place) : place);
    return function.empty() || function == label ? label : fmt::format("{}  {}", label, function);
}

Table groupTable(const model::GroupTable& table, const model::LiveGroups& live, std::size_t rows)
{
    Table out({ { "bytes" }, { "share" }, { "blocks" },
        { std::string(model::infoOf(table.grouping()).name), Table::Align::Left } });
    for (std::size_t i = 0; i < rows; ++i) {
        const model::GroupSum& sum = live.groups[i];
        out.add({ model::formatBytes(sum.bytes), model::formatShare(sum.bytes, live.requestedBytes),
            model::formatCount(sum.blocks), printable(table.label(sum.group)) });
    }
    return out;
}

} // namespace strata::cli
