// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/what_if_precision_card.h"

#include "views/style/labels.h"
#include "views/style/texts.h"

#include <QComboBox>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

WhatIfPrecisionCard::WhatIfPrecisionCard(WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, tr("Precision"),
        tr("The forward under torch.autocast, or parameters, buffers and inputs in another type: which "
           "operators then compute in which, PyTorch alone knows"))
    , m_type(new QComboBox)
{
    m_type->addItem(tr("autocast to bfloat16"), QStringLiteral("amp=bf16"));
    m_type->addItem(tr("autocast to float16"), QStringLiteral("amp=fp16"));
    m_type->addItem(tr("all of it in bfloat16"), QStringLiteral("dtype=bf16"));
    m_type->addItem(tr("all of it in float16"), QStringLiteral("dtype=fp16"));
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
    if (auto asked = model::Change::parse(m_type->currentData().toString().toStdString()))
        scenario.changes.push_back(std::move(*asked));
}

void WhatIfPrecisionCard::show(const model::Scenario& scenario)
{
    const auto asked = std::ranges::find_if(scenario.changes, [](const model::Change& change) {
        return change.kind == model::Change::Kind::Autocast || change.kind == model::Change::Kind::Type;
    });
    setOn(asked != scenario.changes.end());
    if (isOn())
        m_type->setCurrentIndex(std::max(0, m_type->findData(text::utf8(asked->text))));
}

} // namespace strata::views
