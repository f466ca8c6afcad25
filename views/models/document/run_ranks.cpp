// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/run_ranks.h"

#include "model/analysis/work/chrome_trace.h"
#include "model/analysis/work/ranks/merged_ranks.h"
#include "model/analysis/work/session_work.h"
#include "model/session/opener.h"
#include "model/session/simulation.h"

#include <QFile>

#include <algorithm>

namespace strata::views {

model::Result<std::shared_ptr<const RunRanks>> RunRanks::open(
    const QStringList& paths, const model::Progress& progress, const std::function<void(qsizetype)>& reading)
{
    if (paths.size() < 2)
        return model::fail(model::Error::Kind::Usage, model::say("one trace has nothing beside it"),
            model::say("choose the traces of two ranks of a run, or of all of them"));
    auto made = std::make_shared<RunRanks>();
    for (const QString& path : paths) {
        if (reading)
            reading(std::ssize(made->m_files));
        const std::string name = QFile::encodeName(path).toStdString();
        auto session = model::Opener::openAll(name, {}, progress);
        if (!session)
            return model::Failure(session.error());
        auto work = model::workOf(*session);
        if (!work) {
            model::Error error{ model::Error::Kind::NotFound, model::whyNoWork(**session),
                model::say("choose traces of torch.profiler, or recordings with kernels"), name };
            return model::Failure(std::move(error));
        }
        made->m_files.push_back(path);
        made->m_sessions.push_back(*session);
        made->m_work.push_back(std::move(work));
    }
    const std::vector<model::RankTrace> traces = made->traces();
    made->m_ranks = model::rankWorkOf(traces);
    made->m_verdict = model::rankVerdictOf(made->m_ranks, traces);
    made->compare();
    return made;
}

std::vector<model::RankTrace> RunRanks::traces() const
{
    std::vector<model::RankTrace> traces;
    for (std::size_t i = 0; i < m_work.size(); ++i)
        traces.push_back({ m_work[i].get(), &m_sessions[i]->recording().strings });
    return traces;
}

model::Result<void> RunRanks::saveMerged(const QString& path) const
{
    const std::vector<model::RankTrace> given = traces();
    const model::MergedRanks merged = model::mergeRanks(given, m_ranks);
    return model::saveChromeTrace(merged.work, merged.strings, QFile::encodeName(path).toStdString(), {},
        model::simulationJson(m_sessions[m_ranks.traces.front()]->recording()));
}

void RunRanks::compare()
{
    const std::size_t steps = m_ranks.steps.size();
    m_excess.assign(steps * m_ranks.ranks.size(), -1);
    for (std::size_t at = 0; at < steps; ++at) {
        const model::CommonStep& step = m_ranks.steps[at];
        std::vector<std::int64_t> own;
        for (const auto& of : step.ranks)
            if (of)
                own.push_back(of->ownNs());
        const std::int64_t median = model::spreadOf(std::move(own)).median;
        const auto whole = static_cast<double>(std::max<std::int64_t>(step.ns(), 1));
        for (std::size_t rank = 0; rank < step.ranks.size(); ++rank)
            if (const auto& of = step.ranks[rank])
                m_excess[rank * steps + at]
                    = std::clamp(static_cast<double>(of->ownNs() - median) / whole, 0.0, 1.0);
    }
}

std::optional<double> RunRanks::excess(std::size_t rank, std::size_t step) const
{
    const double found = m_excess[rank * m_ranks.steps.size() + step];
    return found < 0 ? std::nullopt : std::optional(found);
}

} // namespace strata::views
