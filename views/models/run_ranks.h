// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/rank_verdict.h"
#include "model/session/session.h"

#include <QStringList>

#include <functional>
#include <memory>
#include <vector>

namespace strata::views {

/// The traces of the ranks of one run, side by side. Immutable; any thread.
class RunRanks {
public:
    /// `reading` is told which of the files is read next. Fails with the first that cannot be read or holds
    /// no work, and where there are fewer than two.
    [[nodiscard]] static model::Result<std::shared_ptr<const RunRanks>> open(const QStringList& paths,
        const model::Progress& progress, const std::function<void(qsizetype)>& reading = {});

    [[nodiscard]] const model::RankWork& ranks() const { return m_ranks; }
    [[nodiscard]] const model::RankVerdict& verdict() const { return m_verdict; }
    [[nodiscard]] const QString& file(std::size_t rank) const { return m_files[m_ranks.traces[rank]]; }
    [[nodiscard]] QStringList files() const { return { m_files.begin(), m_files.end() }; }

private:
    std::vector<QString> m_files; // as they were given
    std::vector<std::shared_ptr<const model::Session>> m_sessions; // names lie in them
    std::vector<std::shared_ptr<const model::Work>> m_work;
    model::RankWork m_ranks;
    model::RankVerdict m_verdict;
};

} // namespace strata::views
