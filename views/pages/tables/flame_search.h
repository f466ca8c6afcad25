// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QLabel>
#include <QLineEdit>

#include "views/base/background_job.h"

namespace strata::views {

class FlameGraph;

/// Finds functions and files in a flame graph: a field, beside it what share of the picture was found. The
/// graph shows the hits. Whoever lays them out takes field and result; the graph must outlive it. GUI thread
/// only.
class FlameSearch : public QObject {
    Q_DECLARE_TR_FUNCTIONS(strata::views::FlamePage)
public:
    explicit FlameSearch(FlameGraph& graph);

    void start(); ///< the text was changed, or the graph shows another tree
    [[nodiscard]] QLineEdit& field() const { return *m_search; }
    [[nodiscard]] QLabel& found() const { return *m_found; }
    [[nodiscard]] const BackgroundJob& job() const { return m_job; }

private:
    FlameGraph& m_graph;
    QLineEdit* m_search;
    QLabel* m_found;
    BackgroundJob m_job;
};

} // namespace strata::views
