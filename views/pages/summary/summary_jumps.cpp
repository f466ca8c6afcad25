// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/summary_jumps.h"

#include "model/analysis/training/ledger/block_modules.h"
#include "model/trace/filter/grouping.h"

#include <utility>

namespace strata::views {

SummaryJumps::SummaryJumps(Page& page, Document& document)
    : QObject(&page)
    , m_page(page)
    , m_document(document)
{
}

void SummaryJumps::follow(const QString& link)
{
    if (const auto target = text::lineOfLink(link))
        line(*target);
    else if (const auto event = text::eventOfLink(link))
        instant(*event);
    else if (const auto other = text::pageOfLink(link))
        Q_EMIT m_page.openPage(*other, {});
}

void SummaryJumps::deviceReady()
{
    if (!m_wanted.empty() && m_document.device())
        details(std::exchange(m_wanted, {}));
}

void SummaryJumps::instant(model::EventIndex event)
{
    m_document.viewState().select(EventRange{ event, event });
    Q_EMIT m_page.openPage(QStringLiteral("memory"), event);
    Q_EMIT m_page.focusChanged(Focus::onEvent(event));
}

void SummaryJumps::line(const text::LineLink& link)
{
    m_document.viewState().setGrouping(model::Grouping::Line); // where Memory can show it
    if (link.event)
        m_document.viewState().select(EventRange{ *link.event, *link.event });
    Q_EMIT m_page.openPage(QStringLiteral("memory"), link.event);
    if (link.event)
        Q_EMIT m_page.focusChanged(Focus::onEvent(*link.event)); // unless the line holds memory
    details(link.line);
}

void SummaryJumps::details(const std::string& line)
{
    const auto device = m_document.device();
    if (!device) {
        m_wanted = line;
        return;
    }
    if (const model::GroupKey key{ line, 0 }; device->byLine->find(key))
        Q_EMIT m_page.focusChanged(Focus::onGroup(model::Grouping::Line, key));
}

void SummaryJumps::filter(const std::string& line, bool named)
{
    model::BlockFilter filter = m_document.viewState().filter();
    if (named)
        filter.line = line;
    else
        filter.sites = { model::StackId() };
    m_document.viewState().setFilter(filter);
    Q_EMIT m_page.openPage(QStringLiteral("memory"), {});
}

/// The blocks of the group at that instant: a filter for them where there are such.
void SummaryJumps::group(model::Grouping grouping, const std::string& label, model::EventIndex event)
{
    const auto device = m_document.device();
    if (!device || !device->training)
        return;
    ViewState& state = m_document.viewState();
    state.select(EventRange{ event, event });
    const auto& table
        = grouping == model::Grouping::Category ? device->training->byCategory : device->training->byModule;
    const model::GroupKey key{ label, 0 };
    const auto group = table ? table->find(key) : std::nullopt;
    const bool isModule = grouping == model::Grouping::Module && label != model::kNoModuleLabel;
    if (isModule || group) {
        model::BlockFilter filter = state.filter();
        if (isModule)
            filter.module = label + ".*"; // and what is within it, as its row has it
        else
            model::infoOf(grouping).narrowToGroup(filter, *device->trace, *table, *group);
        state.setFilter(filter);
        Q_EMIT m_page.openPage(QStringLiteral("blocks"), event);
    } else {
        Q_EMIT m_page.openPage(QStringLiteral("memory"), event);
    }
    if (group)
        Q_EMIT m_page.focusChanged(Focus::onGroup(grouping, key, event));
}

} // namespace strata::views
