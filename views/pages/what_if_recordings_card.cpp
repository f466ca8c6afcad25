// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/what_if_recordings_card.h"

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

constexpr int kMostItems = 1 << 30;
constexpr int kNameLength = 24, kItemsWidth = 72;

} // namespace

WhatIfRecordingsCard::WhatIfRecordingsCard(WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, tr("Other recordings"),
        tr("The same program, recorded with another batch, tells the size of each block at any batch; a "
           "third one "
           "says whether sizes go linearly with it"))
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
    for (const QString& path :
        QFileDialog::getOpenFileNames(this, tr("Recordings of the Same Program with Another Batch"), folder))
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
    // They change nothing: they tell more of what another batch does.
}

void WhatIfRecordingsCard::show(const model::Scenario&) { }

void WhatIfRecordingsCard::refresh()
{
    rebuild();
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
    auto* items = new QSpinBox;
    items->setRange(0, kMostItems);
    items->setButtonSymbols(QAbstractSpinBox::NoButtons);
    items->setSpecialValueText(tr("items?"));
    items->setValue(static_cast<int>(std::min<std::int64_t>(other.items().value_or(0), kMostItems)));
    items->setFixedWidth(scaled(kItemsWidth, font()));
    items->setEnabled(other.run != nullptr);
    items->setAccessibleName(tr("Items of the batch of %1").arg(name));
    items->setToolTip(tr("How many items its batch has; 0: as the shapes of operators tell"));
    items->setObjectName(QStringLiteral("items%1").arg(place));
    auto* remove = linkButton(tr("Remove"));
    remove->setAccessibleName(tr("Remove %1").arg(name));
    line->addWidget(label, 1);
    line->addWidget(items);
    line->addWidget(remove);
    column->addLayout(line);
    if (other.refusal)
        column->addWidget(captionLabel(
            tr("Not taken: %1. %2").arg(text::said(other.refusal->what), text::said(other.refusal->hint))));
    else if (!other.run)
        column->addWidget(captionLabel(tr("Being read…")));
    connect(items, &QSpinBox::valueChanged, this, [this, place](int value) {
        whatIf().setOtherItems(place, value > 0 ? std::optional<std::int64_t>(value) : std::nullopt);
    });
    connect(remove, &QPushButton::clicked, this, [this, place] { whatIf().removeOther(place); });
    return row;
}

/// Rows are made anew only where what they say is another: somebody may be typing into one.
void WhatIfRecordingsCard::rebuild()
{
    QString now;
    bool missing = false;
    for (const WhatIf::Other& other : whatIf().others()) {
        now += QStringLiteral("%1 %2 %3\n")
                   .arg(other.path)
                   .arg(other.run != nullptr)
                   .arg(other.refusal ? text::said(*other.refusal) : QString());
        missing = missing || (other.run && !other.items());
    }
    if (std::exchange(m_shown, now) != now) {
        while (QLayoutItem* item = m_rows->takeAt(0)) {
            item->widget()->hide();
            item->widget()->deleteLater(); // its button may be what calls
            delete item;
        }
        for (std::size_t place = 0; place < whatIf().others().size(); ++place)
            m_rows->addWidget(rowOf(place));
    }
    setNote(whatIf().others().empty()
            ? tr("The same program, recorded with another batch: then the size of each block is known.")
            : missing ? tr("Say how many items each of them has.")
                      : QString());
}

} // namespace strata::views
