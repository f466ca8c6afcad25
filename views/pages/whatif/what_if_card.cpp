// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_card.h"

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
    switch (kind.kind) {
    case model::Change::Kind::Batch:
        return new WhatIfBatchCard(kind, whatIf, document);
    case model::Change::Kind::Sequence:
        return new WhatIfSequenceCard(kind, whatIf, document);
    case model::Change::Kind::Checkpoint:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Checkpointing"),
            WhatIfCard::tr(
                "Modules whose activations are computed again in backward instead of being kept: a "
                "class, or path:GLOB; none: without the checkpoints that there are"),
            WhatIfCard::tr("Classes of modules take a deep step, which tells what backward keeps: strata "
                           "record --deep-step 3."),
            whatIf, document);
    case model::Change::Kind::Optimizer:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Optimizer"),
            WhatIfCard::tr("Another optimizer of torch.optim, with options that matter for memory, as "
                           "SGD,momentum=0.9, or one of bitsandbytes, as AdamW8bit"),
            WhatIfCard::tr("It takes a recording that tells of parameters, as strata record makes them."),
            whatIf, document);
    case model::Change::Kind::Autocast:
        return new WhatIfConfirmedCard(WhatIfCard::tr("Precision"),
            WhatIfCard::tr("The forward under torch.autocast, or parameters, buffers and inputs in another "
                           "type: which operators then compute in which, PyTorch alone knows"),
            { { WhatIfCard::tr("autocast to bfloat16"), QStringLiteral("amp=bf16") },
                { WhatIfCard::tr("autocast to float16"), QStringLiteral("amp=fp16") },
                { WhatIfCard::tr("all of it in bfloat16"), QStringLiteral("dtype=bf16") },
                { WhatIfCard::tr("all of it in float16"), QStringLiteral("dtype=fp16") } },
            whatIf, document);
    case model::Change::Kind::Attention:
        return new WhatIfConfirmedCard(WhatIfCard::tr("Attention"),
            WhatIfCard::tr("Another kernel of scaled_dot_product_attention; attention that is written by "
                           "hand becomes it. Flash and cuDNN take 16 bits; causal: masks are taken for "
                           "causal ones"),
            { { WhatIfCard::tr("memory-efficient"), QStringLiteral("attention=efficient") },
                { WhatIfCard::tr("memory-efficient, causal"), QStringLiteral("attention=efficient,causal") },
                { WhatIfCard::tr("flash"), QStringLiteral("attention=flash") },
                { WhatIfCard::tr("flash, causal"), QStringLiteral("attention=flash,causal") },
                { WhatIfCard::tr("cuDNN"), QStringLiteral("attention=cudnn") },
                { WhatIfCard::tr("cuDNN, causal"), QStringLiteral("attention=cudnn,causal") },
                { WhatIfCard::tr("math"), QStringLiteral("attention=math") },
                { WhatIfCard::tr("math, causal"), QStringLiteral("attention=math,causal") } },
            whatIf, document);
    case model::Change::Kind::Logits:
        return new WhatIfConfirmedCard(WhatIfCard::tr("Logits"),
            WhatIfCard::tr("Cross entropy of the last linear layer in so many chunks, as "
                           "torch.nn.functional.linear_cross_entropy computes it: logits are never there as "
                           "a whole"),
            { { WhatIfCard::tr("in %1 chunks").arg(4), QStringLiteral("logits=chunks:4") },
                { WhatIfCard::tr("in %1 chunks").arg(8), QStringLiteral("logits=chunks:8") },
                { WhatIfCard::tr("in %1 chunks").arg(16), QStringLiteral("logits=chunks:16") },
                { WhatIfCard::tr("in %1 chunks").arg(32), QStringLiteral("logits=chunks:32") } },
            whatIf, document);
    case model::Change::Kind::Ddp: // of all that spread
        return new WhatIfRanksCard(whatIf, document);
    case model::Change::Kind::Type: // the card of autocast has it
    case model::Change::Kind::Zero1:
    case model::Change::Kind::Fsdp:
        break;
    case model::Change::Kind::Offload:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Offload"),
            WhatIfCard::tr("What is saved for backward lies on the host until backward takes it, as with "
                           "torch.autograd.graph.save_on_cpu: all of it, or that of a class of modules; or "
                           "the optimizer works there"),
            WhatIfCard::tr("It takes a deep step, which tells what backward keeps: strata record "
                           "--deep-step 3."),
            whatIf, document);
    case model::Change::Kind::Remove:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Without a line"),
            WhatIfCard::tr("What a line, a function or a file allocates is not there, as where a leak is "
                           "mended: train.py:57, or any filter"),
            WhatIfCard::tr("It takes a recording with stacks."), whatIf, document);
    case model::Change::Kind::Free:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Free sooner"),
            WhatIfCard::tr("A del behind the last use of what the program holds: of all of it (last-use), or "
                           "of what a line allocates, as train.py:57"),
            WhatIfCard::tr("It takes a deep step, which tells what is used when: strata record "
                           "--deep-step 3."),
            whatIf, document);
    case model::Change::Kind::ZeroGrad:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Gradients"),
            WhatIfCard::tr(
                "Where zero_grad() lets go of them: right behind the step of the optimizer, so that "
                "the next forward does without them (after-step), before that forward, or before "
                "the backward behind it"),
            WhatIfCard::tr("It takes a recording that tells of parameters, as strata record makes them."),
            whatIf, document);
    case model::Change::Kind::Accumulate:
        return new WhatIfChoiceCard(kind, WhatIfCard::tr("Accumulation"),
            WhatIfCard::tr("So many forwards and backwards, each of the batch, for a step of the optimizer"),
            WhatIfCard::tr("It takes a recording that tells of parameters, as strata record makes them."),
            whatIf, document);
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
