// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_confirmed_card.h"

#include "model/whatif/ask/change_kind.h"
#include "views/style/labels.h"
#include "views/style/texts.h"

#include <QComboBox>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

WhatIfConfirmedCard::WhatIfConfirmedCard(const model::ChangeKind& kind, WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, text::said(kind.card.title), text::said(kind.card.about))
    , m_choice(new QComboBox)
{
    for (const model::ChangeCard::Choice& choice : kind.card.choices)
        m_choice->addItem(text::said(model::Sentence(choice.words, { model::argument(choice.number) })),
            text::utf8(choice.change));
    m_choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_choice->setAccessibleName(onSwitch().text());
    inside().addWidget(m_choice);
    auto* confirm = linkButton(tr("Confirm it…"));
    confirm->setProperty("atEdge", true);
    inside().addWidget(confirm, 0, Qt::AlignLeft);
    setNote(kind.isToldByCallsAlone()
            ? tr("No estimate tells this: only a confirmation by recorded calls can.")
            : tr(
                "No estimate tells this: only a confirmation can, by the program or by its recorded calls."));
    connect(m_choice, &QComboBox::activated, this, [this] { touched(); });
    connect(confirm, &QPushButton::clicked, this, [this] {
        touched();
        Q_EMIT confirmAsked();
    });
}

void WhatIfConfirmedCard::addTo(model::Scenario& scenario) const
{
    if (!isOn())
        return;
    if (auto asked = model::Change::parse(m_choice->currentData().toString().toStdString()))
        scenario.changes.push_back(std::move(*asked));
}

void WhatIfConfirmedCard::show(const model::Scenario& scenario)
{
    int shown = -1;
    for (const model::Change& change : scenario.changes)
        shown = std::max(shown, m_choice->findData(text::utf8(change.text)));
    setOn(shown >= 0);
    if (isOn())
        m_choice->setCurrentIndex(shown);
}

} // namespace strata::views
