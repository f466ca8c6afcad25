// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_words.h"

#include "views/models/document/shown_instant.h"
#include "views/models/document/training_data.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"

namespace strata::views {

using model::EventIndex;
using model::TreeCost;

FlameWords::FlameWords(
    const FlameQuestion& question, const DeviceData& device, const FlameTree& tree, bool selected)
    : m_question(question)
    , m_device(device)
    , m_tree(tree)
    , m_selected(selected)
{
}

QString FlameWords::range() const
{
    const model::TreeQuery& query = m_question.query;
    if (!m_selected || query.from < 0)
        return query.to + 1 == m_device.trace->eventCount() ? tr("in the whole trace")
                                                            : tr("up to event %1").arg(text::count(query.to));
    return tr("between event %1 and event %2").arg(text::count(query.from), text::count(query.to));
}

/// What is alive at the end, which is no leak for that.
QString FlameWords::alive(const model::LeakReport* leaks) const
{
    const model::TreeQuery& query = m_question.query;
    const QString bytes = text::strong(text::bytes(m_tree.total(0)));
    const bool whole
        = query.from < 0 && query.to + 1 == m_device.trace->eventCount() && m_question.filter.empty();
    QString text = whole ? tr("%1 is alive at the end").arg(bytes)
                         : tr("%1, allocated %2, is alive at the end").arg(bytes, range());
    if (!leaks)
        return text;
    std::int64_t leaking = 0;
    for (const model::LeakSite& site : leaks->sites)
        if (site.kind == model::LeakKind::Leak)
            for (const model::LeakGrowth& left : site.survivors)
                leaking += left.requestedBytes;
    if (whole && leaking < m_tree.total(0) / 2)
        text += tr(", most of it meant to stay");
    if (leaks->verdict == model::LeakReport::Verdict::Found)
        text += tr(" (%1 has what grows)").arg(text::pageLinked(tr("Leaks"), QStringLiteral("leaks")));
    return text;
}

QString FlameWords::sentence(const model::LeakReport* leaks) const
{
    const model::TreeQuery& query = m_question.query;
    const QString bytes = text::strong(text::bytes(m_tree.total(0)));
    const QString blocks = text::strong(text::count(m_tree.blocks(0)));
    QString text;
    switch (query.cost) {
    case TreeCost::Bytes: {
        const EventIndex at = m_tree.tree().at;
        const bool failed = !m_selected && at == lastOutOfMemory(m_device);
        const QString when = at < 0 ? tr("before the first event")
            : failed                ? tr("at the out-of-memory, event %1").arg(text::count(at))
                                    : tr("at event %1").arg(text::count(at));
        text = query.from == query.to ? tr("%1 in %2 blocks live %3").arg(bytes, blocks, when)
                                      : tr("%1 in %2 blocks live at the peak, %3").arg(bytes, blocks, when);
        break;
    }
    case TreeCost::Count:
        text = query.from == query.to ? tr("%1 blocks live at event %2").arg(blocks, text::count(query.to))
                                      : tr("%1 allocations %2").arg(blocks, range());
        break;
    case TreeCost::Leaked:
        text = alive(leaks);
        break;
    case TreeCost::Temporary:
        text = tr("%1 in %2 blocks, allocated and freed %3").arg(bytes, blocks, range());
        break;
    }

    // The first frame below which not nearly everything lies: what tells one part of the program from
    // another.
    constexpr double kNearlyAll = 0.9;
    FlameTree::Node node = 0;
    while (!m_tree.children(node).empty()
        && static_cast<double>(m_tree.total(node)) > kNearlyAll * static_cast<double>(m_tree.total(0)))
        node = m_tree.children(node).front();
    if (node != 0 && m_tree.total(0) > 0 && (m_tree.isGroup(node) || m_tree.frame(node).valid())) {
        const QString function = m_tree.function(node), place = m_tree.place(node);
        const bool isPlainName = place.isEmpty() || place == function; // C++ is known by its function alone
        text += (m_tree.isGroup(node) ? tr("; %1 of it: %2") : tr("; %1 of it below %2"))
                    .arg(text::strong(text::share(m_tree.total(node), m_tree.total(0))),
                        (isPlainName ? function : tr("%1 (%2)").arg(function, place)).toHtmlEscaped());
    }
    if (!m_question.filter.empty())
        text += tr(" (of what the filter lets through)");
    return text + QLatin1Char('.');
}

} // namespace strata::views
