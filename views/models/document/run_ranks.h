// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/ranks/rank_verdict.h"
#include "model/session/session.h"

#include <QStringList>

#include <functional>
#include <memory>
#include <optional>
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
    /// How much longer than the median of all ranks one takes for a step without its waiting, of the step's
    /// time: 0 to 1; nothing: the step is not in its trace.
    [[nodiscard]] std::optional<double> excess(std::size_t rank, std::size_t step) const;
    [[nodiscard]] QStringList files() const { return { m_files.begin(), m_files.end() }; }
    /// All on the clock of the first, as one Chrome trace: `strata timeline RANK... -o FILE`.
    [[nodiscard]] model::Result<void> saveMerged(const QString& path) const;

private:
    [[nodiscard]] std::vector<model::RankTrace> traces() const;
    void compare(); ///< fills m_excess

    std::vector<QString> m_files; // as they were given
    std::vector<std::shared_ptr<const model::Session>> m_sessions; // names lie in them
    std::vector<std::shared_ptr<const model::Work>> m_work;
    model::RankWork m_ranks;
    model::RankVerdict m_verdict;
    std::vector<double> m_excess; // rank after rank, by steps; below 0: not in its trace
};

} // namespace strata::views
