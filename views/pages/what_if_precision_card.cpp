// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/what_if_precision_card.h"

#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

WhatIfPrecisionCard::WhatIfPrecisionCard(WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, tr("Precision"),
        tr("The forward under torch.autocast: which operators then compute in another type, PyTorch alone "
           "knows"))
    , m_type(new QComboBox)
{
    m_type->addItem(tr("autocast to bfloat16"), QStringLiteral("bf16"));
    m_type->addItem(tr("autocast to float16"), QStringLiteral("fp16"));
    m_type->setAccessibleName(tr("Precision"));
    inside().addWidget(m_type);
    auto* confirm = linkButton(tr("Confirm it…"));
    confirm->setProperty("atEdge", true);
    inside().addWidget(confirm, 0, Qt::AlignLeft);
    setNote(tr("No estimate tells this: only a confirmation can, by the program or by its recorded calls."));
    connect(m_type, &QComboBox::activated, this, [this] { touched(); });
    connect(confirm, &QPushButton::clicked, this, [this] {
        touched();
        Q_EMIT confirmAsked();
    });
}

void WhatIfPrecisionCard::addTo(model::Scenario& scenario) const
{
    if (!isOn())
        return;
    const QString text = QStringLiteral("amp=") + m_type->currentData().toString();
    if (auto asked = model::Change::parse(text.toStdString()))
        scenario.changes.push_back(std::move(*asked));
}

void WhatIfPrecisionCard::show(const model::Scenario& scenario)
{
    const auto asked
        = std::ranges::find(scenario.changes, model::Change::Kind::Autocast, &model::Change::kind);
    setOn(asked != scenario.changes.end());
    if (isOn())
        m_type->setCurrentIndex(std::max(0, m_type->findData(text::utf8(asked->value))));
}

} // namespace strata::views
