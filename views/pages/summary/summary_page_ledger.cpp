// SPDX-License-Identifier: GPL-3.0-or-later
// What the page "Summary" says of what the memory is for, and where a click on it leads.
#include "views/pages/summary/summary_page.h"

#include "model/analysis/training/ledger/block_modules.h"
#include "model/trace/filter/grouping.h"
#include "views/models/document/ledger_source.h"
#include "views/pages/summary/ledger_panel.h"
#include "views/pages/summary/rules_dialog.h"

#include <QVBoxLayout>

namespace strata::views {

void SummaryPage::fillLedger(QVBoxLayout& part, const SummaryData& device)
{
    if (device.recording->refusal || device.summary->totals.requestedBytesPeak == 0)
        return;
    auto* panel = new LedgerPanel(m_document, *m_ledger, m_palette);
    connect(panel, &LedgerPanel::instantChosen, this, &SummaryPage::showInstant);
    connect(
        panel, &LedgerPanel::categoryChosen, this, [this](model::Category category, model::EventIndex event) {
            chooseGroup(model::Grouping::Category, std::string(model::categoryWord(category)), event);
        });
    connect(
        panel, &LedgerPanel::moduleChosen, this, [this](const std::string& path, model::EventIndex event) {
            chooseGroup(
                model::Grouping::Module, path.empty() ? std::string(model::kNoModuleLabel) : path, event);
        });
    connect(panel, &LedgerPanel::lineChosen, this, [this](const std::string& line, model::EventIndex event) {
        chooseLine({ line, event });
    });
    connect(panel, &LedgerPanel::rulesAsked, this, &SummaryPage::editRules);
    part.addWidget(panel);
}

void SummaryPage::editRules()
{
    if (m_document.device())
        (new RulesDialog(m_document, m_palette, this))->open();
}

/// Once it is seen: whoever works on another page need not wait for it.
void SummaryPage::refreshLedger()
{
    if (!inBackground())
        m_ledger->refresh();
}

const LedgerPanel* SummaryPage::ledgerInUse() const
{
    const auto* panel = m_shown.widget ? m_shown.widget->findChild<LedgerPanel*>() : nullptr;
    const QWidget* keyboard = window()->focusWidget();
    return panel && keyboard && panel->isAncestorOf(keyboard) && m_ledger->data() ? panel : nullptr;
}

/// The blocks of the group at that instant: a filter for them where there are such.
void SummaryPage::chooseGroup(model::Grouping grouping, const std::string& label, model::EventIndex event)
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
        Q_EMIT openPage(QStringLiteral("blocks"), event);
    } else {
        Q_EMIT openPage(QStringLiteral("memory"), event);
    }
    if (group)
        Q_EMIT focusChanged(Focus::onGroup(grouping, key, event));
}

} // namespace strata::views
