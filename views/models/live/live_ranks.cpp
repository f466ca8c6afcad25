// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/live/live_ranks.h"

#include "views/style/texts.h"

#include <QThreadPool>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace strata::views {

namespace {

constexpr int kRankLookMs = 250;
constexpr std::size_t kMostLines = 20;

} // namespace

std::shared_ptr<const RankData> rankDataOf(
    std::shared_ptr<const model::Session> session, const RankData* earlier)
{
    const model::DeviceTrace* const trace = session->defaultDevice();
    if (!trace)
        return nullptr;
    auto data = std::make_shared<RankData>();
    if (earlier && earlier->trace().device() != trace->device())
        earlier = nullptr;
    data->timeline = model::DeviceTimeline::of(*trace, earlier ? earlier->timeline.get() : nullptr);
    data->session = std::move(session);
    data->requestedBytes = data->timeline->requested().at(trace->eventCount() - 1);
    data->reservedBytes = data->timeline->reserved().at(trace->eventCount() - 1);
    const model::EventIndex peak = trace->totals().requestedPeakEvent;
    const bool samePeak = earlier && trace->continues(earlier->trace()) && earlier->peakLines.event == peak;
    if (samePeak) {
        data->byLine = earlier->byLine;
        data->peakLines = earlier->peakLines;
    } else {
        data->byLine = earlier && trace->keepsRowsOf(earlier->trace())
            ? std::make_shared<const model::GroupTable>(*trace, *earlier->byLine)
            : std::make_shared<const model::GroupTable>(*trace, model::Grouping::Line);
        data->peakLines = model::groupsAt(*data->timeline, *data->byLine, peak);
    }
    return data;
}

std::vector<RankSpread> spreadsOf(const std::vector<std::shared_ptr<const RankData>>& ranks, std::size_t most)
{
    std::size_t known = 0;
    for (const auto& rank : ranks)
        known += rank != nullptr;
    if (known < 2)
        return {};
    using Of = RankSpread::Of;
    const auto spreadOf = [&](Of of, const QString& name, auto&& bytesOf) {
        RankSpread spread{ of, name, INT64_MAX, INT64_MIN };
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            if (!ranks[i])
                continue;
            const std::int64_t bytes = bytesOf(i);
            if (bytes < spread.lowestBytes) {
                spread.lowestBytes = bytes;
                spread.lowest = i;
            }
            if (bytes > spread.highestBytes) {
                spread.highestBytes = bytes;
                spread.highest = i;
            }
        }
        return spread;
    };
    std::vector<RankSpread> spreads;
    std::vector<std::map<std::string, std::int64_t>> lines(ranks.size());
    std::map<std::string, bool> names; // whether it is a line at all
    for (std::size_t i = 0; i < ranks.size(); ++i)
        if (ranks[i])
            for (const model::GroupSum& sum : ranks[i]->peakLines.groups) {
                const std::string& label = ranks[i]->byLine->label(sum.group);
                lines[i][label] += sum.bytes;
                names[label] = ranks[i]->byLine->stackOf(sum.group).valid();
            }
    for (const auto& [label, hasStack] : names)
        spreads.push_back(
            spreadOf(hasStack ? Of::Line : Of::NoStack, text::utf8(label), [&, &name = label](std::size_t i) {
                const auto found = lines[i].find(name);
                return found == lines[i].end() ? 0 : found->second;
            }));
    const auto widestFirst = [](const RankSpread& a, const RankSpread& b) {
        return a.bytes() != b.bytes() ? a.bytes() > b.bytes() : a.name < b.name;
    };
    std::erase_if(spreads, [](const RankSpread& spread) { return spread.bytes() == 0; });
    std::ranges::sort(spreads, widestFirst);
    if (spreads.size() > most)
        spreads.resize(most);
    if (std::ranges::all_of(ranks, [](const auto& rank) { return !rank || rank->totals().reservedKnown; }))
        spreads.push_back(spreadOf(Of::ReservedPeak, LiveRanks::tr("Reserved, at the peak"),
            [&](std::size_t i) { return ranks[i]->totals().reservedBytesPeak; }));
    spreads.push_back(spreadOf(Of::RequestedPeak, LiveRanks::tr("Requested, at the peak"),
        [&](std::size_t i) { return ranks[i]->totals().requestedBytesPeak; }));
    std::ranges::stable_sort(spreads, widestFirst);
    return spreads;
}

LiveRanks::LiveRanks(const std::vector<model::LiveProcess>& processes, QObject* parent)
    : QObject(parent)
{
    model::LiveSession::Options options;
    options.between = std::chrono::milliseconds(kRankLookMs); // more often nobody looks
    options.mostEvents = model::LiveSession::usualMostEvents()
        / std::max<std::int64_t>(std::ssize(processes), 1); // all of them together
    for (const model::LiveProcess& process : processes) {
        m_ranks.push_back({ process });
        m_watched.push_back(
            { std::make_unique<model::LiveSession>(process.address, options, nullptr), nullptr });
    }
    m_timer.setInterval(kRankLookMs);
    connect(&m_timer, &QTimer::timeout, this, &LiveRanks::look);
    m_timer.start();
}

LiveRanks::~LiveRanks()
{
    m_job.cancel();
    // Ending their threads takes a tenth of a second each.
    QThreadPool::globalInstance()->start(
        [watched = std::make_shared<std::vector<Watched>>(std::move(m_watched)),
            ranks = std::move(m_ranks)]() mutable {
            watched.reset();
            ranks.clear();
        });
}

QString LiveRanks::rankName(std::size_t place) const
{
    const model::LiveProcess& process = m_ranks[place].process;
    if (process.rank)
        return tr("rank %1").arg(*process.rank);
    return process.process ? tr("process %1").arg(*process.process) : text::utf8(process.name);
}

std::vector<std::size_t> LiveRanks::outOfMemory() const
{
    std::vector<std::size_t> failed;
    for (std::size_t i = 0; i < m_ranks.size(); ++i)
        if (m_ranks[i].data && !m_ranks[i].data->trace().outOfMemories().empty())
            failed.push_back(i);
    return failed;
}

void LiveRanks::look()
{
    struct Task {
        std::size_t place;
        std::shared_ptr<const model::Session> session;
        std::shared_ptr<const RankData> earlier;
    };
    std::vector<Task> tasks;
    std::vector<std::shared_ptr<const RankData>> all;
    bool anyNews = false;
    for (std::size_t i = 0; i < m_ranks.size(); ++i) {
        model::LiveSession::Status status = m_watched[i].session->status();
        anyNews = anyNews || status.state != m_ranks[i].state;
        m_ranks[i].state = status.state;
        all.push_back(m_ranks[i].data);
        if (m_job.running() || !status.latest || status.latest == m_watched[i].derived)
            continue;
        m_watched[i].derived = status.latest;
        tasks.push_back({ i, std::move(status.latest), m_ranks[i].data });
    }
    if (anyNews)
        Q_EMIT changed();
    if (tasks.empty())
        return;
    using Newer = std::vector<std::pair<std::size_t, std::shared_ptr<const RankData>>>;
    struct Result {
        Newer newer;
        std::vector<RankSpread> spreads;
    };
    m_job.start(
        [tasks = std::move(tasks), all = std::move(all)](const JobContext& context) mutable {
            Result result;
            for (Task& task : tasks) {
                if (context.stop().stop_requested())
                    return result;
                if (auto data = rankDataOf(std::move(task.session), task.earlier.get())) {
                    all[task.place] = data;
                    result.newer.emplace_back(task.place, std::move(data));
                }
            }
            result.spreads = spreadsOf(all, kMostLines);
            return result;
        },
        [this](Result result) { take(std::move(result.newer), std::move(result.spreads)); });
}

void LiveRanks::take(std::vector<std::pair<std::size_t, std::shared_ptr<const RankData>>> newer,
    std::vector<RankSpread> spreads)
{
    for (auto& [place, data] : newer)
        std::swap(m_ranks[place].data, data);
    // Giving back a generation takes longer than a frame where there are many.
    QThreadPool::globalInstance()->start([earlier = std::move(newer)]() mutable { earlier.clear(); });
    m_spreads = std::move(spreads);
    Q_EMIT changed();
}

} // namespace strata::views
