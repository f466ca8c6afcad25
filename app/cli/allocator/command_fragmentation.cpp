// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/pins_report.h"
#include "app/cli/allocator/segments_told.h"
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "model/analysis/allocator/fragmentation_answer.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace strata::cli {

namespace {

using model::DeviceTrace;
using model::Fragmentation;
using model::FragmentationAnswer;
using model::PinnedSegment;
using model::Thrash;

void printThrash(Output& out, const Thrash& thrash)
{
    const std::vector<model::Sentence> said = model::sayThrash(thrash);
    if (said.empty())
        return;
    out.line("");
    printSentences(out, said);
}

class FragmentationCommand final : public FileCommand {
public:
    FragmentationCommand()
        : FileCommand("fragmentation", "Why memory is reserved and not used, and which settings would help")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        m_instant.declare(app);
        m_read.declare(app, ReadOptions::Devices::One);
        m_limit.declare(app, "segments");
        app.add_option("--over", m_instants,
               "Also at the peaks of so many even parts of the trace: \"over\" of --json")
            ->type_name("COUNT")
            ->check(CLI::Range(0, kMostInstants));
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
        const auto instant = m_instant.of(trace);
        if (!instant)
            return model::Failure(instant.error());
        const model::EventIndex event = *instant;
        auto report = model::checkReplay(trace);
        if (!report)
            return model::Failure(report.error());
        auto tried = model::trySettings(trace, *report);
        if (!tried)
            return model::Failure(tried.error());
        auto sharing = model::trySharing(trace, *report);
        if (!sharing)
            return model::Failure(sharing.error());
        model::AllocatorMap map = model::allocatorMapAt(trace, event, &*report);
        Fragmentation now = model::fragmentationOf(trace, map, report->settings);
        std::optional<std::vector<Fragmentation>> over;
        if (m_instants > 0) {
            const model::DeviceTimeline timeline(trace);
            over = model::fragmentationOver(
                timeline, &*report, model::evenInstants(timeline, model::Axis::Events, m_instants));
        }
        Thrash thrash = model::thrashOf(trace, *report);
        const std::size_t listed = rows(now, out);
        const FragmentationAnswer answer{ &trace, std::move(*report), std::move(map), std::move(now),
            std::move(over), std::move(*tried), *sharing, std::move(thrash),
            model::GroupTable(trace, model::Grouping::Line), listed };
        if (m_read.json)
            out.write(jsonLine(answer, answer));
        else
            print(out, file, answer);
        return kDone;
    }

private:
    [[nodiscard]] std::size_t rows(const Fragmentation& found, Output& out) const
    {
        const std::int64_t most
            = m_read.json || m_limit.limit ? m_limit.rows(m_read.json, out) : kSegmentsShown;
        return static_cast<std::size_t>(std::min(most, std::ssize(found.pinned)));
    }

    /// Reserved memory by stream and by pool, where there are several, and what sharing would save.
    static void printPlaces(Output& out, const FragmentationAnswer& answer)
    {
        const auto print = [&](std::span<const model::ReservedSum> sums, const char* column, auto&& name) {
            if (sums.size() < 2)
                return;
            out.line("");
            Table table({ { "reserved" }, { "free" }, { "segments" }, { column, Table::Align::Left } });
            std::int64_t others = 0;
            for (std::size_t i = 0; i < sums.size(); ++i) {
                if (i >= kPlacesShown) {
                    others += sums[i].reservedBytes;
                    continue;
                }
                table.add({ model::formatBytes(sums[i].reservedBytes), model::formatBytes(sums[i].freeBytes),
                    model::formatCount(sums[i].segments), name(sums[i]) });
            }
            table.print(out);
            if (others > 0)
                out.line(fmt::format("  and {} more with {}",
                    model::formatCount(static_cast<std::int64_t>(sums.size() - kPlacesShown)),
                    model::formatBytes(others)));
        };
        const model::Recording& recording = answer.trace->recording();
        print(answer.now.streams, "stream", [&](const model::ReservedSum& sum) {
            if (sum.stream == model::kNoIndex)
                return std::string("not known");
            const std::int64_t stream = recording.streams[sum.stream];
            return stream == 0 ? std::string("default")
                               : model::formatAddress(static_cast<std::uint64_t>(stream));
        });
        print(answer.now.pools, "pool", [](const model::ReservedSum& sum) {
            return sum.pool.isDefault() ? std::string("default")
                                        : fmt::format("({},{})", sum.pool.owner, sum.pool.id);
        });
        for (const model::Sentence& sentence : model::saySharing(*answer.trace, answer.now, answer.sharing)) {
            out.line("");
            printParagraph(out, printable(sentence.text()));
        }
    }

    static void print(Output& out, const std::string& file, const FragmentationAnswer& answer)
    {
        const DeviceTrace& trace = *answer.trace;
        const Fragmentation& found = answer.now;
        out.line(fmt::format("{}: {} {}: {} reserved, {} of it free{}", out.strong(printable(file)),
            deviceName(trace.device()), stateName(trace, found.event),
            model::formatBytes(found.reservedBytes), model::formatBytes(found.freeBytes),
            found.exact ? "" : " at most"));
        const auto line = [&](std::int64_t bytes, const std::string& what) {
            if (bytes > 0)
                out.line(fmt::format("  {:>10}  {}", model::formatBytes(bytes), what));
        };
        line(found.freeBytes - found.cachedSegmentsBytes, "free in segments that live blocks keep");
        line(found.cachedSegmentsBytes,
            model::cachedSentence(found.cachedSegmentsBytes, found.cachedPrivateBytes).text());
        line(found.pendingBytes, "freed, but another stream may still use it");
        line(found.roundingBytes, "rounding of requests");
        line(found.unsplitBytes, "tails of blocks, too small to be split off");
        line(found.largestFreeBytes, "the largest free block: no larger request is served from what is free");
        printPlaces(out, answer);
        for (std::size_t i = 0; i < answer.listed; ++i) {
            const PinnedSegment& pinned = found.pinned[i];
            const model::MapSegment& segment = answer.map.segments[pinned.segment];
            out.line("");
            out.line(fmt::format("Segment of {} at {}: {} free, kept by", model::formatBytes(segment.bytes),
                model::formatAddress(segment.address), model::formatBytes(pinned.freeBytes)));
            pinsTable(pinned.pins, answer.byLine, kPinsShown).print(out);
            if (pinned.pins.size() > kPinsShown)
                out.line(fmt::format("  and {} more blocks",
                    model::formatCount(static_cast<std::int64_t>(pinned.pins.size() - kPinsShown))));
        }
        if (answer.listed < found.pinned.size()) {
            out.line("");
            out.line(fmt::format("{} more segments (--limit 0 prints all)",
                model::formatCount(static_cast<std::int64_t>(found.pinned.size() - answer.listed))));
        }
        printThrash(out, answer.thrash);
        out.line("");
        if (answer.tried.empty()) {
            printParagraph(out,
                "What other settings would reserve cannot be told: "
                    + printable(model::whySettingsUntried(trace, answer.report).text()));
            return;
        }
        out.line(fmt::format(
            "Other settings, by replaying these {} events", model::formatCount(trace.eventCount())));
        settingsTable(answer.tried, trace.recording()).print(out);
        if (const model::Sentence endless = model::sayPeaksAreEndless(answer.tried); !endless.empty())
            printSentences(out, { endless });
        if (!answer.tried.front().reason.empty())
            printParagraph(out, "  " + printable(answer.tried.front().reason.text()));
    }

    static constexpr std::int64_t kSegmentsShown = 5;
    static constexpr std::size_t kPlacesShown = 8;
    static constexpr std::size_t kPinsShown = 5;
    static constexpr int kMostInstants = 100'000;
    int m_instants = 0;
    ReadOptions m_read;
    LimitOption m_limit;
    InstantOption m_instant{ InstantOption::Peak::Reserved };
};

} // namespace

std::unique_ptr<Command> makeFragmentation()
{
    return std::make_unique<FragmentationCommand>();
}

} // namespace strata::cli
