// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/summary/advice_rows.h"

#include "views/models/whatif/what_if_words.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QTextDocumentFragment>
#include <QVBoxLayout>

namespace strata::views {

namespace {

/// "checkpoint=Block would save about 5.2 GiB: it reserves 6.1 GiB instead of 11.3 GiB."
QString adviceHtml(const model::Advice& advice, std::size_t number, const QString& accent)
{
    const model::Prediction& prediction = advice.prediction;
    const QString change
        = QStringLiteral("<a href=\"advice:%1\" style=\"color:%2\">%3</a>")
              .arg(QString::number(number), accent, text::scenario(advice.scenario).toHtmlEscaped());
    const QString saved = text::strong(text::bytes(advice.need.savedBytes()));
    const QString is = text::bytes(advice.need.afterBytes), was = text::bytes(advice.need.beforeBytes);
    return text::unbroken(prediction.predicted
            ? AdviceRows::tr("%1 would save about %2: it would reserve %3 instead of %4.")
                  .arg(change, saved, is, was)
            : AdviceRows::tr("%1 would save %2 or more: it would reserve at most %3 instead of %4.")
                  .arg(change, saved, is, was));
}

} // namespace

AdviceRows::AdviceRows(const QString& heading, QWidget* parent)
    : QWidget(parent)
    , m_heading(heading)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    setVisible(false);
}

void AdviceRows::setAdvice(const std::vector<model::Advice>& advice, const QString& accent)
{
    delete std::exchange(m_rows, nullptr);
    m_scenarios.clear();
    setVisible(!advice.empty());
    if (advice.empty())
        return;
    m_rows = new QWidget;
    auto* list = new QVBoxLayout(m_rows);
    list->setContentsMargins(0, 0, 0, 0);
    list->setSpacing(kGrid);
    auto* head = new QHBoxLayout;
    head->setSpacing(kGrid);
    head->addWidget(headingLabel(m_heading));
    QLabel* sure = textLabel(tr("estimates; What-if tells more"), true);
    sure->setWordWrap(false);
    head->addWidget(sure);
    head->addStretch();
    list->addLayout(head);
    for (const model::Advice& one : advice) {
        QLabel* line = textLabel(adviceHtml(one, m_scenarios.size(), accent));
        line->setTextFormat(Qt::RichText);
        line->setTextInteractionFlags(Qt::TextBrowserInteraction);
        line->setObjectName(QStringLiteral("advice"));
        line->setToolTip(text::sureness(one.prediction));
        connect(line, &QLabel::linkActivated, this, [this, number = m_scenarios.size()] {
            if (number < m_scenarios.size())
                Q_EMIT chosen(m_scenarios[number]);
        });
        m_scenarios.push_back(one.scenario);
        list->addWidget(line);
    }
    layout()->addWidget(m_rows);
    m_rows->show();
}

QStringList AdviceRows::lines() const
{
    QStringList lines;
    for (const QLabel* line : findChildren<QLabel*>(QStringLiteral("advice")))
        lines << QTextDocumentFragment::fromHtml(line->text())
                     .toPlainText()
                     .replace(QChar::Nbsp, QLatin1Char(' '));
    return lines;
}

} // namespace strata::views
