// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/segments_told.h"
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/analysis/allocator/state_answer.h"
#include "model/base/units.h"
#include "model/tables/position.h"
#include "model/trace/filter/grouping.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace strata::cli {

namespace {

using model::AllocatorMap;
using model::DeviceTrace;
using model::MapBlock;
using model::MapSegment;

class State final : public FileCommand {
public:
    State()
        : FileCommand("state", "What the allocator held at one instant: its segments and their blocks")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        app.add_option("POSITION", m_position, "The instant, see below")->required()->type_name("");
        m_read.declare(app, ReadOptions::Devices::One);
        m_limit.declare(app, "segments");
        app.footer(footer(Footer::Positions));
    }

    model::Result<void> checkOptions() override { return m_limit.check(); }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto opened = openTrace(file, m_read, err);
        if (!opened)
            return model::Failure(opened.error());
        const DeviceTrace& trace = *opened->trace;
        if (const auto told = tellsOfSegments(trace.recording(), trace.device()); !told)
            return model::Failure(told.error());
        const auto event = model::parsePosition(m_position, trace);
        if (!event)
            return model::Failure(event.error());
        const auto report = model::checkReplay(trace);
        const model::StateAnswer answer{ &trace,
            model::allocatorMapAt(trace, *event, report ? &*report : nullptr) };
        if (m_read.json)
            out.write(jsonLine(answer, answer));
        else
            print(out, file, trace, answer.map);
        return kDone;
    }

private:
    void print(Output& out, const std::string& file, const DeviceTrace& trace, const AllocatorMap& map) const
    {
        out.line(fmt::format("{}: {} {}: {}", out.strong(printable(file)), deviceName(trace.device()),
            stateName(trace, map.event), map.exact ? "all sizes exact" : "rounded sizes are at least these"));
        Table table({ { "reserved" }, { "allocated" }, { "pending" }, { "free" }, { "blocks" },
            { "address", Table::Align::Left }, { "stream" }, { "pool", Table::Align::Left } });
        std::vector<const MapSegment*> segments;
        for (const MapSegment& segment : map.segments)
            segments.push_back(&segment);
        std::ranges::stable_sort(segments, std::greater{}, &MapSegment::bytes);
        const auto limit = static_cast<std::size_t>(m_limit.rows(false, out));
        const std::size_t rows = limit == 0 ? segments.size() : std::min(limit, segments.size());
        for (std::size_t i = 0; i < rows; ++i) {
            const MapSegment& segment = *segments[i];
            const auto live
                = std::ranges::count_if(map.blocksOf(segment), [](const MapBlock& b) { return !b.isFree(); });
            table.add({ model::formatBytes(segment.bytes), model::formatBytes(segment.allocatedBytes),
                model::formatBytes(segment.activeBytes - segment.allocatedBytes),
                model::formatBytes(segment.freeBytes()), model::formatCount(live),
                model::formatAddress(segment.address),
                segment.stream == model::kNoIndex
                    ? "-"
                    : fmt::format("{}", trace.recording().streams[segment.stream]),
                model::poolLabel(trace.recording(), segment.pool)
                    + (segment.expandable ? ", expandable" : "") });
        }
        table.print(out);
        if (rows < segments.size())
            out.line(fmt::format("  {} more segments (--limit 0 prints all)",
                model::formatCount(static_cast<std::int64_t>(segments.size() - rows))));
    }

    ReadOptions m_read;
    LimitOption m_limit;
    std::string m_position;
};

} // namespace

std::unique_ptr<Command> makeState()
{
    return std::make_unique<State>();
}

} // namespace strata::cli
