// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/run_ranks.h"

#include "model/analysis/work/chrome_trace.h"
#include "model/analysis/work/merged_ranks.h"
#include "model/analysis/work/session_work.h"

#include <QFile>

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
        auto session = model::Session::open(name, {}, progress);
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
    return model::saveChromeTrace(merged.work, merged.strings, QFile::encodeName(path).toStdString());
}

} // namespace strata::views
