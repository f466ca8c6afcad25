// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/what_if_card.h"

#include "views/pages/what_if_batch_card.h"
#include "views/pages/what_if_choice_card.h"
#include "views/pages/what_if_device_card.h"
#include "views/pages/what_if_recordings_card.h"
#include "views/pages/what_if_settings_card.h"
#include "views/style/labels.h"
#include "views/style/type.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>

namespace strata::views {

WhatIfCard::WhatIfCard(WhatIf& whatIf, Document& document, const QString& title, const QString& about)
    : m_whatIf(whatIf)
    , m_document(document)
    , m_switch(new QCheckBox(title))
    , m_essence(new QLabel)
    , m_inside(new QVBoxLayout)
    , m_note(captionLabel({}))
{
    setObjectName(QStringLiteral("changeCard")); // as the style sheet knows it
    setAccessibleName(title);
    m_switch->setFont(bold(m_switch->font()));
    m_switch->setToolTip(about);
    m_essence->setProperty("muted", true);
    auto* head = new QHBoxLayout;
    head->setSpacing(kGrid);
    head->addWidget(m_switch);
    head->addStretch();
    head->addWidget(m_essence);
    m_inside->setSpacing(kGrid);
    m_note->setVisible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kGrid, kMargin, kMargin);
    layout->setSpacing(kGrid);
    layout->addLayout(head);
    layout->addLayout(m_inside);
    layout->addWidget(m_note);
    connect(m_switch, &QCheckBox::toggled, this, &WhatIfCard::edited);
}

bool WhatIfCard::isOn() const
{
    return m_switch->isChecked();
}

void WhatIfCard::setOn(bool on)
{
    const QSignalBlocker silent(m_switch);
    m_switch->setChecked(on);
}

QString WhatIfCard::note() const
{
    return m_note->text();
}

void WhatIfCard::setEssence(const QString& text)
{
    m_essence->setText(text);
}

void WhatIfCard::setNote(const QString& text)
{
    m_note->setText(text);
    m_note->setVisible(!text.isEmpty());
}

void WhatIfCard::touched()
{
    setOn(true);
    Q_EMIT edited();
}

namespace {

WhatIfCard* makeCardOf(const model::ChangeKind& kind, WhatIf& whatIf, Document& document)
{
    switch (kind.kind) {
    case model::Change::Kind::Batch:
        return new WhatIfBatchCard(whatIf, document);
    case model::Change::Kind::Checkpoint:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Checkpointing"),
            WhatIfCard::tr(
                "Modules whose activations are computed again in backward instead of being kept: a "
                "class, or path:GLOB; none: without the checkpoints that there are"),
            WhatIfCard::tr(
                "It takes a deep step, which tells what backward keeps: strata record --deep-step 3."),
            whatIf, document);
    case model::Change::Kind::Optimizer:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Optimizer"),
            WhatIfCard::tr("Another optimizer of torch.optim, with options that matter for memory, as "
                           "SGD,momentum=0.9"),
            WhatIfCard::tr("It takes a recording that tells of parameters, as strata record makes them."),
            whatIf, document);
    case model::Change::Kind::Autocast: // the program alone can tell
    case model::Change::Kind::Type:
    case model::Change::Kind::Ddp: // asked for on the command line
    case model::Change::Kind::Zero1:
    case model::Change::Kind::Fsdp:
        break;
    }
    return nullptr;
}

} // namespace

std::vector<WhatIfCard*> makeWhatIfCards(WhatIf& whatIf, Document& document)
{
    std::vector<WhatIfCard*> cards;
    for (const model::ChangeKind& kind : model::changeKinds())
        if (WhatIfCard* card = makeCardOf(kind, whatIf, document))
            cards.push_back(card);
    cards.push_back(new WhatIfRecordingsCard(whatIf, document));
    cards.push_back(new WhatIfSettingsCard(whatIf, document));
    cards.push_back(new WhatIfDeviceCard(whatIf, document));
    return cards;
}

} // namespace strata::views
