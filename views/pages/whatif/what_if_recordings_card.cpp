// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_recordings_card.h"

#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr int kMostSize = 1 << 30;
constexpr int kNameLength = 24, kSizeWidth = 72;

} // namespace

WhatIfRecordingsCard::WhatIfRecordingsCard(WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, tr("Other recordings"),
        tr("The same program, recorded with another batch, or with sequences of another length, tells the "
           "size of each block at any batch, or length; a third one says whether sizes go linearly with it"))
    , m_rows(new QVBoxLayout)
    , m_add(linkButton(tr("Add a recording…")))
{
    m_rows->setSpacing(kGrid);
    inside().addLayout(m_rows);
    m_add->setProperty("atEdge", true);
    inside().addWidget(m_add, 0, Qt::AlignLeft);
    connect(m_add, &QPushButton::clicked, this, &WhatIfRecordingsCard::choose);
    connect(&whatIf, &WhatIf::othersChanged, this, &WhatIfRecordingsCard::rebuild);
    connect(this, &WhatIfCard::edited, this, [this] { this->whatIf().useOthers(isOn()); });
    whatIf.useOthers(false);
    rebuild();
}

void WhatIfRecordingsCard::choose()
{
    const QString folder = QFileInfo(document().path()).absolutePath();
    for (const QString& path : QFileDialog::getOpenFileNames(this,
             asksLengths() ? tr("Recordings of the Same Program with Sequences of Another Length")
                           : tr("Recordings of the Same Program with Another Batch"),
             folder))
        add(path);
}

void WhatIfRecordingsCard::add(const QString& path)
{
    setOn(true);
    whatIf().useOthers(true);
    whatIf().addOther(path);
    Q_EMIT edited();
}

void WhatIfRecordingsCard::addTo(model::Scenario&) const
{
    // They change nothing: they tell more of what another batch does, or another length.
}

void WhatIfRecordingsCard::show(const model::Scenario&) { }

void WhatIfRecordingsCard::refresh()
{
    rebuild();
}

bool WhatIfRecordingsCard::asksLengths() const
{
    return whatIf().asksSequence();
}

QSpinBox* WhatIfRecordingsCard::sizeBox(std::size_t place)
{
    const WhatIf::Other& other = whatIf().others()[place];
    const QString name = QFileInfo(other.path).fileName();
    const bool isLength = asksLengths();
    const auto size = isLength ? other.saidLength : other.items();
    auto* box = new QSpinBox;
    box->setRange(0, kMostSize);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    box->setSpecialValueText(isLength ? tr("length?") : tr("items?"));
    box->setValue(static_cast<int>(std::min<std::int64_t>(size.value_or(0), kMostSize)));
    box->setFixedWidth(scaled(kSizeWidth, font()));
    box->setEnabled(other.run != nullptr);
    box->setAccessibleName(
        (isLength ? tr("Length of the sequences of %1") : tr("Items of the batch of %1")).arg(name));
    box->setToolTip(isLength ? tr("How long each of its sequences is; 0: not known")
                             : tr("How many items its batch has; 0: as the shapes of operators tell"));
    box->setObjectName((isLength ? QStringLiteral("length%1") : QStringLiteral("items%1")).arg(place));
    connect(box, &QSpinBox::valueChanged, this, [this, place, isLength](int value) {
        const auto said = value > 0 ? std::optional<std::int64_t>(value) : std::nullopt;
        if (isLength)
            whatIf().setOtherLength(place, said);
        else
            whatIf().setOtherItems(place, said);
    });
    return box;
}

QWidget* WhatIfRecordingsCard::rowOf(std::size_t place)
{
    const WhatIf::Other& other = whatIf().others()[place];
    const QString name = QFileInfo(other.path).fileName();
    auto* row = new QWidget;
    auto* column = new QVBoxLayout(row);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* line = new QHBoxLayout;
    line->setSpacing(kGrid);
    auto* label = new QLabel(text::shortened(name, kNameLength, text::Keep::End));
    label->setToolTip(other.path);
    auto* remove = linkButton(tr("Remove"));
    remove->setAccessibleName(tr("Remove %1").arg(name));
    line->addWidget(label, 1);
    line->addWidget(sizeBox(place));
    line->addWidget(remove);
    column->addLayout(line);
    if (other.refusal)
        column->addWidget(captionLabel(
            tr("Not taken: %1. %2").arg(text::said(other.refusal->what), text::said(other.refusal->hint.said))));
    else if (!other.run)
        column->addWidget(captionLabel(tr("Being read…")));
    connect(remove, &QPushButton::clicked, this, [this, place] { whatIf().removeOther(place); });
    return row;
}

/// Rows are made anew only where what they say is another: somebody may be typing into one.
void WhatIfRecordingsCard::rebuild()
{
    QString now = asksLengths() ? QStringLiteral("lengths\n") : QString();
    for (const WhatIf::Other& other : whatIf().others())
        now += QStringLiteral("%1 %2 %3\n")
                   .arg(other.path)
                   .arg(other.run != nullptr)
                   .arg(other.refusal ? text::said(*other.refusal) : QString());
    if (std::exchange(m_shown, now) != now) {
        while (QLayoutItem* item = m_rows->takeAt(0)) {
            item->widget()->hide();
            item->widget()->deleteLater(); // its button may be what calls
            delete item;
        }
        for (std::size_t place = 0; place < whatIf().others().size(); ++place)
            m_rows->addWidget(rowOf(place));
    }
    setNote(remark());
}

QString WhatIfRecordingsCard::remark() const
{
    const auto& others = whatIf().others();
    if (others.empty())
        return tr("The same program, recorded with another batch, or with sequences of another length: then "
                  "the size of each block is known.");
    if (asksLengths()) {
        const auto lacks = [](const WhatIf::Other& other) { return other.run && !other.saidLength; };
        return std::ranges::any_of(others, lacks) ? tr("Say how long the sequences of each of them are.")
                                                  : QString();
    }
    const auto takesPart = [this](const WhatIf::Other& other) { return whatIf().takesPart(other); };
    const auto lacks
        = [&](const WhatIf::Other& other) { return other.run && takesPart(other) && !other.items(); };
    if (std::ranges::any_of(others, lacks))
        return tr("Say how many items each of them has.");
    return std::ranges::all_of(others, takesPart)
        ? QString()
        : tr("Those with sequences of another length tell of no change but that of Sequence.");
}

} // namespace strata::views
