// SPDX-License-Identifier: GPL-3.0-or-later
// What the page "Summary" advises to do, and where a click on it leads.
#include "views/pages/summary/summary_page.h"

#include "views/models/whatif/advice_source.h"
#include "views/pages/summary/advice_rows.h"

#include <QVBoxLayout>

namespace strata::views {

void SummaryPage::fillAdvice(QVBoxLayout& part, const SummaryData& device)
{
    // A refused request has advice of its own above, of a replay that is exact.
    auto* rows = new AdviceRows(device.summary->outOfMemory.empty() ? tr("Do this") : tr("Or do this"));
    connect(rows, &AdviceRows::chosen, this, &SummaryPage::whatIfAsked);
    part.addWidget(rows); // filled once the part has its place: shown alone it would be a window
}

void SummaryPage::showAdvice(AdviceRows& rows) const
{
    rows.setAdvice(m_advice->advice(), m_palette[Palette::Role::Accent].name());
    if (QWidget* part = rows.parentWidget()) // else it would leave a gap
        part->setVisible(!m_advice->advice().empty());
}

void SummaryPage::adviceChanged()
{
    for (const QWidget* content : { m_shown.widget, m_next.widget })
        if (content != nullptr)
            for (AdviceRows* rows : content->findChildren<AdviceRows*>())
                showAdvice(*rows);
    Q_EMIT busyChanged();
}

/// Once it is seen: a few replays.
void SummaryPage::refreshAdvice()
{
    if (!inBackground())
        m_advice->refresh();
}

} // namespace strata::views
