// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_card.h"

#include "model/whatif/kinds/change_kinds.h"
#include "views/pages/whatif/what_if_batch_card.h"
#include "views/pages/whatif/what_if_choice_card.h"
#include "views/pages/whatif/what_if_confirmed_card.h"
#include "views/pages/whatif/what_if_device_card.h"
#include "views/pages/whatif/what_if_ranks_card.h"
#include "views/pages/whatif/what_if_recordings_card.h"
#include "views/pages/whatif/what_if_sequence_card.h"
#include "views/pages/whatif/what_if_settings_card.h"
#include "views/style/labels.h"
#include "views/style/type.h"

#include <QAbstractSpinBox>
#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>

#include <algorithm>

namespace strata::views {

namespace {

constexpr int kLeastControl = 56; // before scaling

/// A line that gives way to what is beside it.
class EssenceLabel : public QLabel {
public:
    using QLabel::QLabel;
    [[nodiscard]] QSize minimumSizeHint() const override { return { 0, QLabel::minimumSizeHint().height() }; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setPen(palette().color(foregroundRole()));
        painter.drawText(rect(), Qt::AlignRight | Qt::AlignVCenter,
            fontMetrics().elidedText(text(), Qt::ElideRight, width()));
    }
};

} // namespace

WhatIfCard::WhatIfCard(WhatIf& whatIf, Document& document, const QString& title, const QString& about)
    : m_whatIf(whatIf)
    , m_document(document)
    , m_switch(new QCheckBox(title))
    , m_essence(new EssenceLabel)
    , m_fold(new QToolButton)
    , m_body(new QWidget)
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
    head->addWidget(m_essence, 1);
    m_fold->setAutoRaise(true);
    m_fold->setArrowType(Qt::DownArrow);
    m_fold->setAccessibleName(tr("Controls of %1").arg(title));
    m_fold->setToolTip(tr("Shows or hides its controls"));
    head->addWidget(m_fold);
    m_inside->setSpacing(kGrid);
    m_note->setVisible(false);
    auto* body = new QVBoxLayout(m_body);
    body->setContentsMargins(0, 0, kMargin - kGrid / 2, kMargin - kGrid / 2);
    body->setSpacing(kGrid);
    body->addLayout(m_inside);
    body->addWidget(m_note);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kGrid / 2, kGrid / 2, kGrid / 2);
    layout->setSpacing(kGrid / 2);
    layout->addLayout(head);
    layout->addWidget(m_body);
    connect(m_fold, &QToolButton::clicked, this, [this] { setOpen(!isOpen()); });
    connect(m_switch, &QCheckBox::toggled, this, [this](bool on) {
        if (on)
            setOpen(true);
        Q_EMIT edited();
    });
}

bool WhatIfCard::isOpen() const
{
    return !m_body->isHidden();
}

void WhatIfCard::setOpen(bool open)
{
    m_body->setVisible(open);
    m_fold->setArrowType(open ? Qt::DownArrow : Qt::RightArrow);
}

void WhatIfCard::mouseReleaseEvent(QMouseEvent* event)
{
    QFrame::mouseReleaseEvent(event);
    if (event->button() == Qt::LeftButton && (!isOpen() || event->position().y() < m_body->y()))
        setOpen(!isOpen());
}

bool WhatIfCard::isOn() const
{
    return m_switch->isChecked();
}

void WhatIfCard::setOn(bool on)
{
    const QSignalBlocker silent(m_switch);
    m_switch->setChecked(on);
    if (on)
        setOpen(true);
}

QString WhatIfCard::note() const
{
    return m_note->text();
}

QString WhatIfCard::essence() const
{
    return m_essence->text();
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
    switch (kind.card.kind) {
    case model::ChangeCard::Kind::Size:
        if (&kind == &model::kBatchKind)
            return new WhatIfBatchCard(kind, whatIf, document);
        return new WhatIfSequenceCard(kind, whatIf, document);
    case model::ChangeCard::Kind::Value:
        return new WhatIfChoiceCard(kind, whatIf, document);
    case model::ChangeCard::Kind::Choice:
        return new WhatIfConfirmedCard(kind, whatIf, document);
    case model::ChangeCard::Kind::Ranks:
        return new WhatIfRanksCard(whatIf, document);
    case model::ChangeCard::Kind::None:
        break;
    }
    return nullptr;
}

} // namespace

std::vector<WhatIfCard*> makeWhatIfCards(WhatIf& whatIf, Document& document)
{
    std::vector<WhatIfCard*> cards;
    for (const model::ChangeKind* kind : model::changeKinds())
        if (WhatIfCard* card = makeCardOf(*kind, whatIf, document))
            cards.push_back(card);
    cards.push_back(new WhatIfSettingsCard(whatIf, document));
    cards.push_back(new WhatIfRecordingsCard(whatIf, document));
    for (WhatIfCard* card : cards)
        card->setOpen(card == cards.front()); // the others stand in a line each
    auto* device = new WhatIfDeviceCard(whatIf, document);
    cards.insert(cards.begin() + 2, device); // what everybody asks: does it fit there
    // What could be typed does not decide how narrow they get.
    const auto setLeast
        = [](QWidget* control) { control->setMinimumWidth(scaled(kLeastControl, control->font())); };
    for (const WhatIfCard* card : cards)
        std::ranges::for_each(card->findChildren<QAbstractSpinBox*>(), setLeast);
    return cards;
}

} // namespace strata::views
