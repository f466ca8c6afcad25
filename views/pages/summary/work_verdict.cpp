// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/work_verdict.h"

#include "model/analysis/work/session_work.h"
#include "model/analysis/work/work_report.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/summary_facts.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"

namespace strata::views {

WorkVerdict::WorkVerdict(std::shared_ptr<const model::Session> session, const QString& link, QWidget* parent)
    : QLabel(parent)
{
    setWordWrap(true);
    setTextFormat(Qt::RichText);
    setTextInteractionFlags(Qt::TextBrowserInteraction);
    hide();
    if (!session)
        return;
    m_job.start(
        [session](const JobContext&) {
            const auto work = model::workOf(session);
            if (!work)
                return std::vector<model::Sentence>();
            const model::StringTable& strings = session->recording().strings;
            return model::verdictOf(model::workReportOf(*work, strings, {}), session->recording());
        },
        [this, link](const std::vector<model::Sentence>& verdict) {
            if (verdict.empty())
                return;
            setText(tr("%1 More on the page %2.")
                        .arg(text::withMicro(verdictHtml(verdict, link)),
                            text::pageLinked(tr("Timeline"), QStringLiteral("timeline"))));
            setAccessibleName(verdictPlain(verdict));
            show();
        });
}

} // namespace strata::views
