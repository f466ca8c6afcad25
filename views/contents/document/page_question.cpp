// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/page_question.h"

#include "views/pages/whatif/what_if_page.h"

namespace strata::views {

model::Result<void> askWhatIf(
    const std::vector<Page*>& pages, const QStringList& changes, const QString& table)
{
    const QStringList tables = WhatIfPage::belowWords();
    model::Scenario scenario;
    for (const QString& text : changes) {
        auto change = model::Change::parse(text.toStdString());
        if (!change)
            return model::Failure(change.error());
        scenario.changes.push_back(std::move(*change));
    }
    const auto place = tables.indexOf(table);
    if (!table.isEmpty() && place < 0)
        return model::fail(model::Error::Kind::Usage,
            model::say("--table does not know '%1'", table.toStdString()),
            model::say("there are %1", tables.join(QStringLiteral(", ")).toStdString()));
    for (Page* page : pages)
        if (auto* whatIf = qobject_cast<WhatIfPage*>(page)) {
            if (!scenario.changes.empty())
                whatIf->setScenario(scenario);
            if (place >= 0)
                whatIf->setBelow(static_cast<WhatIfPage::Below>(place));
        }
    return {};
}

} // namespace strata::views
