// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/session_text.h"

#include "model/analysis/summary/groups.h"
#include "model/timeline/blocks_picture.h"
#include "model/timeline/pictures.h"
#include "tests/support/naive_trace.h"
#include "tests/support/summary_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <numeric>

namespace strata::test {

using namespace model;

namespace {

class Text {
public:
    explicit Text(const Derived& derived)
        : m_derived(derived)
        , m_trace(*derived.trace)
        , m_recording(derived.trace->recording())
        , m_timeline(*derived.timeline)
    {
    }

    std::string take()
    {
        m_text = totalsText(m_trace.totals());
        const TraceNotes& notes = m_trace.notes();
        line("pending at start {}, older frees {} {} {}, backwards {} {}", m_trace.totals().pendingBytesStart,
            notes.olderFrees, notes.olderFreedBytes, notes.firstOlderFree, notes.backwards,
            notes.firstBackwards);
        addBlocks();
        addEvents();
        for (const SegmentLife& s : m_trace.segmentLives())
            line("segment {:x} {} {} {} {} {} {} {}", s.address, s.bytes, number(s.alloc), number(s.free),
                s.stack.value, s.stream, pool(s.pool), s.expandable);
        addLiveSets();
        for (std::size_t i = 0; i < m_derived.groups.size(); ++i)
            addGroups(*m_derived.groups[i], *m_derived.orders[i]);
        const GroupTable& lines = *m_derived.groups[static_cast<std::size_t>(Grouping::Line)];
        m_text += summaryText(m_trace.recording(), summarize(m_timeline, lines), lines, m_trace.findings());
        addPictures(*m_derived.groups[static_cast<std::size_t>(Grouping::Site)]);
        return std::move(m_text);
    }

private:
    template <class... Args> void line(fmt::format_string<Args...> format, Args&&... args)
    {
        fmt::format_to(std::back_inserter(m_text), format, std::forward<Args>(args)...);
        m_text += '\n';
    }
    static std::int64_t number(EventId e) { return e.valid() ? static_cast<std::int64_t>(e.value) : -1; }
    [[nodiscard]] std::string pool(PoolIndex index) const { return poolLabel(m_recording, index); }

    void addBlocks()
    {
        const BlockColumns& b = m_trace.blocks();
        for (const BlockId id : b.all())
            line("block {}: {:x} {} {} {} {} {} since {} {} {} {}", id.value, b.address[id],
                b.requestedBytes[id], b.rounding[id], number(b.allocOf(id)), number(b.freeRequested[id]),
                number(b.freeCompleted[id]), b.pendingSince(id), b.stack[id].value, b.stream[id],
                pool(b.pool[id]));
    }
    void addEvents()
    {
        std::vector<EventIndex> events(static_cast<std::size_t>(m_trace.eventCount()) + 1);
        std::iota(events.begin(), events.end(), -1);
        const auto requested = m_timeline.requested().atEach(events);
        const auto pending = m_timeline.pendingFree().atEach(events);
        const auto reserved = m_timeline.reserved().atEach(events);
        const Clock& clock = m_timeline.clock();
        for (std::size_t i = 0; i < events.size(); ++i) {
            const EventIndex e = events[i];
            line("event {}: block {}, pool {}, {} {} {} at {}", e,
                e < 0 ? 0 : m_trace.events().block[static_cast<std::size_t>(e)].value,
                e < 0 ? std::string() : pool(poolOfEvent(m_trace, e)), requested[i], pending[i], reserved[i],
                clock.timeNs(e));
        }
        for (EventIndex e = -1; e < m_trace.eventCount(); e += 61)
            for (const Curve* curve :
                { &m_timeline.requested(), &m_timeline.pendingFree(), &m_timeline.reserved() }) {
                const CurveRange range = curve->range(e, e * 2 + 300);
                line("from {}: {} {} {} {}", e, range.min, range.max, range.maxEvent,
                    clock.eventAt(clock.timeNs(e)));
            }
    }
    void addLiveSets()
    {
        for (EventIndex e = -1; e < m_trace.eventCount(); e += 41) {
            m_text += "live";
            for (const BlockId block : m_timeline.live().liveAt(e))
                fmt::format_to(std::back_inserter(m_text), " {}", block.value);
            line(" after {}, {} born", e, m_timeline.live().rowsBornUpTo(e));
        }
    }
    void addGroups(const GroupTable& table, const LayerOrder& order)
    {
        m_text += "layers";
        for (const std::uint32_t group : order.groups())
            fmt::format_to(std::back_inserter(m_text), " {}/{}", table.label(group),
                table.grouping() == Grouping::Pool ? 0 : table.valueOf(group));
        m_text += '\n';
        for (const EventIndex e : { m_trace.totals().requestedPeakEvent, m_trace.eventCount() - 1 }) {
            const LiveGroups live = groupsAt(m_timeline, table, e);
            line("by {} after {}: {} {} {}", infoOf(table.grouping()).name, e, live.requestedBytes,
                live.blocks, live.beforeTraceBytes);
            for (const GroupSum& sum : live.groups)
                line("  {}: {} {}", table.label(sum.group), sum.bytes, sum.blocks);
        }
    }
    void addPictures(const GroupTable& table)
    {
        const Clock& clock = m_timeline.clock();
        const StripLayout& strips = *m_derived.strips;
        for (const Strip& s : strips.strips())
            line("strip {:x} {} {} {} {} {} {}", s.address, s.bytes, s.y, pool(s.pool), s.stream,
                s.expandable, s.known);
        const auto name = [&](std::uint32_t group) {
            return group < table.count() ? fmt::format("{}/{}", table.label(group), table.valueOf(group))
                                         : std::string("none");
        };
        for (const Axis axis : { Axis::Events, Axis::Time }) {
            const ColumnWindow x = wholeTrace(axis, clock, 50);
            BlocksPicture picture = m_derived.index->picture(
                { x, 0, std::max(static_cast<double>(strips.height()), 1.0), 40 }, nullptr, {});
            std::ranges::sort(picture.rects, {},
                [](const BlocksPicture::Rect& r) { return std::tuple(r.block.value, r.x0, r.y); });
            for (const BlocksPicture::Rect& r : picture.rects)
                line("rect {} {} {} {} {} {} {}", r.block.value, r.y, r.bytes, r.x0, r.x1, name(r.group),
                    r.pendingFree);
            for (const BlocksPicture::Cell& c : picture.cells)
                line("cell {} {} {}", c.used, c.reserved, name(c.group));
            const StackedPicture stacked
                = stackedPicture(m_trace, clock, m_timeline.requested(), m_timeline.live(), table,
                    m_derived.orders[static_cast<std::size_t>(Grouping::Site)]->groups(), nullptr, x, {});
            for (const StackedPicture::Layer& layer : stacked.layers)
                line("layer {} {}", static_cast<int>(layer.kind), name(layer.group));
            for (std::size_t i = 0; i < stacked.bytes.size(); ++i)
                line("{}", stacked.bytes[i]);
        }
    }

    const Derived& m_derived;
    const DeviceTrace& m_trace;
    const Recording& m_recording;
    const DeviceTimeline& m_timeline;
    std::string m_text;
};

} // namespace

Derived::Derived(const DeviceTrace& of, const Derived* earlier)
    : trace(&of)
    , timeline(DeviceTimeline::of(of, earlier != nullptr ? earlier->timeline.get() : nullptr))
    , keepsRows(earlier != nullptr && of.keepsRowsOf(*earlier->trace))
{
    for (const GroupingInfo& info : groupings()) {
        const auto place = static_cast<std::size_t>(info.grouping);
        groups.push_back(keepsRows ? std::make_shared<const GroupTable>(of, *earlier->groups[place])
                                   : std::make_shared<const GroupTable>(of, info.grouping));
        orders.push_back(keepsRows
                ? std::make_shared<const LayerOrder>(
                    of, timeline->live(), *groups.back(), *earlier->orders[place])
                : std::make_shared<const LayerOrder>(of, timeline->live(), *groups.back()));
    }
    strips = keepsRows ? StripLayout::of(of, *earlier->trace, earlier->strips)
                       : std::make_shared<const StripLayout>(of);
    const GroupTable& sites = *groups[static_cast<std::size_t>(Grouping::Site)];
    index = keepsRows && strips == earlier->strips
        ? std::make_shared<const BlocksIndex>(*timeline, *strips, sites, *earlier->index)
        : std::make_shared<const BlocksIndex>(*timeline, *strips, sites);
}

std::string everythingOf(const Derived& derived)
{
    return Text(derived).take();
}

std::string firstDifference(const std::string& a, const std::string& b)
{
    if (a == b)
        return {};
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    const auto lineAt = [at](const std::string& text) {
        const std::size_t first = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
        return text.substr(first, text.find('\n', first) - first);
    };
    return fmt::format("\"{}\" is \"{}\"", lineAt(a), lineAt(b));
}

} // namespace strata::test
