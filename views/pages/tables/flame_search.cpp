// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_search.h"

#include "views/style/texts.h"
#include "views/widgets/flame/flame_graph.h"

namespace strata::views {

FlameSearch::FlameSearch(FlameGraph& graph)
    : m_graph(graph)
    , m_search(new QLineEdit)
    , m_found(new QLabel)
{
    m_search->setPlaceholderText(tr("Find a function or file"));
    m_search->setAccessibleName(tr("Find in the flame graph"));
    m_search->setClearButtonEnabled(true);
    m_search->setAcceptDrops(false); // a file dropped here is to be opened
    m_search->setFixedWidth(200);
    m_found->setProperty("muted", true);
    connect(m_search, &QLineEdit::textChanged, this, &FlameSearch::start);
    connect(m_search, &QLineEdit::returnPressed, &graph, [&graph] { graph.setFocus(); });
}

void FlameSearch::start()
{
    const auto& tree = m_graph.tree();
    const QString text = m_search->text().trimmed();
    if (text.isEmpty() || !tree) {
        m_job.cancel();
        m_graph.setMatches({});
        m_found->clear();
        return;
    }
    m_job.start([tree, text](const JobContext& context) { return tree->find(text, context); },
        [this, tree](FlameTree::Matches found) {
            m_found->setText(found.nodes == 0
                    ? tr("not found")
                    : tr("%1 of the total, %2")
                          .arg(text::share(found.cost, tree->total(0)),
                              text::counted(found.nodes, tr("1 frame"), tr("%1 frames"))));
            m_graph.setMatches(std::move(found.hits));
        });
}

} // namespace strata::views
