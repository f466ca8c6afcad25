// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/run_ranks.h"

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
    std::vector<model::RankTrace> traces;
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
        traces.push_back({ made->m_work.back().get(), &made->m_sessions.back()->recording().strings });
    }
    made->m_ranks = model::rankWorkOf(traces);
    made->m_verdict = model::rankVerdictOf(made->m_ranks, traces);
    return made;
}

} // namespace strata::views
