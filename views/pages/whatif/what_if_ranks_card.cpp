// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_ranks_card.h"

#include "model/whatif/kinds/ranks/sharding.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

namespace {

constexpr int kMostRanks = 1 << 16, kMostBucket = 1 << 16; // MiB
constexpr std::int64_t kMiB = 1 << 20;

bool isFsdp(const QComboBox& kind)
{
    return kind.currentData().toString() == QLatin1String("fsdp");
}

} // namespace

WhatIfRanksCard::WhatIfRanksCard(WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, tr("Ranks"),
        tr("The training as the first of many ranks that all run it: gradients reduced by "
           "DistributedDataParallel, optimizer states spread by ZeRO-1, or all of it by FSDP2"))
    , m_grid(new QGridLayout)
    , m_kind(new QComboBox)
    , m_ranks(new QSpinBox)
    , m_views(new QCheckBox(tr("Gradients as bucket views")))
    , m_bucket(new QSpinBox)
    , m_reshards(new QComboBox)
    , m_modules(new QLineEdit)
{
    m_kind->addItem(tr("DDP"), QStringLiteral("ddp"));
    m_kind->addItem(tr("ZeRO-1"), QStringLiteral("zero1"));
    m_kind->addItem(tr("FSDP2"), QStringLiteral("fsdp"));
    m_kind->setToolTip(tr("DDP: DistributedDataParallel. ZeRO-1: that with ZeroRedundancyOptimizer. FSDP2: "
                          "fully_shard()"));
    m_ranks->setRange(1, kMostRanks);
    m_ranks->setValue(8);
    m_views->setToolTip(tr("gradient_as_bucket_view=True"));
    m_bucket->setRange(0, kMostBucket);
    m_bucket->setSuffix(QStringLiteral(" MiB"));
    m_bucket->setSpecialValueText(tr("25 MiB (default)"));
    m_bucket->setToolTip(tr("bucket_cap_mb: how many gradients are reduced together"));
    m_reshards->addItem(tr("all but the model"), QString());
    m_reshards->addItem(tr("yes (ZeRO-3)"), QStringLiteral("True"));
    m_reshards->addItem(tr("no (ZeRO-2)"), QStringLiteral("False"));
    m_reshards->setToolTip(tr("reshard_after_forward: whether whole parameters go after forward"));
    m_modules->setPlaceholderText(tr("those that repeat"));
    m_modules->setToolTip(tr("Classes of modules that are sharded on their own, with + between them"));
    for (QSpinBox* box : { m_ranks, m_bucket })
        box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_grid->setHorizontalSpacing(kGrid);
    m_grid->setVerticalSpacing(kGrid / 2);
    m_grid->setColumnStretch(0, 1);
    m_grid->setColumnStretch(1, 1);
    add(tr("Spread by"), *m_kind);
    add(tr("Number of ranks"), *m_ranks);
    m_grid->addWidget(m_views, m_grid->rowCount(), 0, 1, 2);
    add(tr("Bucket"), *m_bucket);
    add(tr("Freed after forward"), *m_reshards);
    add(tr("Modules"), *m_modules);
    inside().addLayout(m_grid);
    connect(m_kind, &QComboBox::activated, this, [this] {
        showKind();
        change();
    });
    connect(m_ranks, &QSpinBox::valueChanged, this, &WhatIfRanksCard::change);
    connect(m_views, &QCheckBox::toggled, this, &WhatIfRanksCard::change);
    connect(m_bucket, &QSpinBox::valueChanged, this, &WhatIfRanksCard::change);
    connect(m_reshards, &QComboBox::activated, this, &WhatIfRanksCard::change);
    connect(m_modules, &QLineEdit::textEdited, this, &WhatIfRanksCard::change);
    m_text = "ddp=8";
    showKind();
}

void WhatIfRanksCard::add(const QString& text, QWidget& control)
{
    auto* label = new QLabel(text);
    label->setBuddy(&control);
    label->setToolTip(control.toolTip());
    control.setAccessibleName(text);
    const int row = m_grid->rowCount();
    m_grid->addWidget(label, row, 0);
    m_grid->addWidget(&control, row, 1);
}

void WhatIfRanksCard::showKind()
{
    const bool fsdp = isFsdp(*m_kind);
    const auto setShown = [&](QWidget* control, bool shown) {
        control->setVisible(shown);
        for (QLabel* label : findChildren<QLabel*>())
            if (label->buddy() == control)
                label->setVisible(shown);
    };
    for (QWidget* control : { static_cast<QWidget*>(m_views), static_cast<QWidget*>(m_bucket) })
        setShown(control, !fsdp);
    for (QWidget* control : { static_cast<QWidget*>(m_reshards), static_cast<QWidget*>(m_modules) })
        setShown(control, fsdp);
}

void WhatIfRanksCard::change()
{
    QString text = QStringLiteral("%1=%2").arg(m_kind->currentData().toString()).arg(m_ranks->value());
    const auto option = [&](const char* key, const QString& value) {
        if (!value.isEmpty())
            text += QStringLiteral(",%1=%2").arg(QLatin1String(key), value);
    };
    if (isFsdp(*m_kind)) {
        option("reshard_after_forward", m_reshards->currentData().toString());
        option("modules", m_modules->text().trimmed());
    } else {
        option("gradient_as_bucket_view", m_views->isChecked() ? QStringLiteral("True") : QString());
        option("bucket_cap_mb", m_bucket->value() > 0 ? QString::number(m_bucket->value()) : QString());
    }
    m_text = text.toStdString();
    const auto asked = model::Change::parse(m_text);
    setNote(asked ? QString() : text::said(asked.error().hint.said));
    touched();
}

void WhatIfRanksCard::addTo(model::Scenario& scenario) const
{
    if (!isOn())
        return;
    if (auto asked = model::Change::parse(m_text))
        scenario.changes.push_back(std::move(*asked));
}

void WhatIfRanksCard::show(const model::Scenario& scenario)
{
    const model::Change* const asked = model::firstThatDoes(scenario.changes, model::Does::Spreads);
    setOn(asked != nullptr);
    if (!isOn())
        return;
    m_text = asked->text;
    const auto& sharding = asked->as<model::Sharding>();
    const QSignalBlocker ranks(m_ranks), views(m_views), bucket(m_bucket);
    m_kind->setCurrentIndex(m_kind->findData(text::utf8(asked->text).section(QLatin1Char('='), 0, 0)));
    m_ranks->setValue(static_cast<int>(std::min<std::int64_t>(sharding.ranks, kMostRanks)));
    m_views->setChecked(sharding.gradientsAreViews);
    m_bucket->setValue(static_cast<int>(sharding.bucketBytes.value_or(0) / kMiB));
    m_reshards->setCurrentIndex(!sharding.reshardsAfterForward ? 0 : *sharding.reshardsAfterForward ? 1 : 2);
    m_modules->setText(text::utf8(sharding.modules));
    setNote({});
    showKind();
}

} // namespace strata::views
