// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_settings_card.h"

#include "model/analysis/allocator/settings_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QVBoxLayout>

#include <array>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr const char* kExpandable = "expandable_segments";
constexpr const char* kMaxSplit = "max_split_size_mb";
constexpr const char* kRoundup = "roundup_power2_divisions";
constexpr const char* kGarbage = "garbage_collection_threshold";
constexpr int kMostSplit = 1 << 20; // MiB
constexpr std::array kDivisions{ 1, 2, 4, 8, 16, 32, 64 };

} // namespace

WhatIfSettingsCard::WhatIfSettingsCard(WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, tr("Allocator settings"),
        tr("Other settings of PyTorch's caching allocator, all of them: PYTORCH_CUDA_ALLOC_CONF"))
    , m_expandable(new QCheckBox(tr("Expandable segments")))
    , m_maxSplit(new QSpinBox)
    , m_roundup(new QComboBox)
    , m_garbage(new QSpinBox)
    , m_line(new QLineEdit)
{
    m_expandable->setToolTip(tr("expandable_segments: segments grow instead of lying beside each other"));
    m_maxSplit->setRange(0, kMostSplit);
    m_maxSplit->setSpecialValueText(tr("any"));
    m_maxSplit->setSuffix(QStringLiteral(" MiB"));
    m_maxSplit->setToolTip(tr("max_split_size_mb: larger blocks are not split; 0: any may be"));
    m_roundup->addItem(tr("none"), 0);
    for (const int divisions : kDivisions)
        m_roundup->addItem(QString::number(divisions), divisions);
    m_roundup->setToolTip(
        tr("roundup_power2_divisions: requests are rounded up to one of so many sizes between "
           "two powers of 2"));
    m_garbage->setRange(0, 99);
    m_garbage->setSuffix(QStringLiteral(" %"));
    m_garbage->setSpecialValueText(tr("never"));
    m_garbage->setToolTip(tr("garbage_collection_threshold: from this share of the device's memory on, free "
                             "segments are given back before more is asked for; 0: never"));
    for (QSpinBox* box : { m_maxSplit, m_garbage })
        box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_line->setFont(codeFont(font()));
    m_line->setAccessibleName(tr("Settings as in PYTORCH_CUDA_ALLOC_CONF"));
    m_line->setToolTip(tr("All settings, as in PYTORCH_CUDA_ALLOC_CONF; empty: the defaults"));
    m_line->setPlaceholderText(tr("the defaults"));

    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(kGrid);
    grid->setVerticalSpacing(kGrid / 2);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    grid->addWidget(m_expandable, 0, 0, 1, 2);
    const auto add = [&](const QString& text, QWidget& control) {
        auto* label = new QLabel(text);
        label->setBuddy(&control);
        label->setToolTip(control.toolTip());
        control.setAccessibleName(text);
        const int row = grid->rowCount();
        grid->addWidget(label, row, 0);
        grid->addWidget(&control, row, 1);
    };
    add(tr("Blocks split up to"), *m_maxSplit);
    add(tr("Roundup divisions"), *m_roundup);
    add(tr("Garbage collection"), *m_garbage);
    grid->addWidget(m_line, grid->rowCount(), 0, 1, 2);
    inside().addLayout(grid);

    connect(m_expandable, &QCheckBox::toggled, this,
        [this](bool on) { change(kExpandable, on ? "True" : std::string()); });
    connect(m_maxSplit, &QSpinBox::valueChanged, this,
        [this](int mib) { change(kMaxSplit, mib > 0 ? std::to_string(mib) : std::string()); });
    connect(m_roundup, &QComboBox::activated, this, [this] {
        const int divisions = m_roundup->currentData().toInt();
        change(kRoundup, divisions > 0 ? std::to_string(divisions) : std::string());
    });
    connect(m_garbage, &QSpinBox::valueChanged, this, [this](int percent) {
        change(
            kGarbage, percent > 0 ? QString::number(percent / 100.0, 'g', 2).toStdString() : std::string());
    });
    connect(m_line, &QLineEdit::textEdited, this, [this] {
        showControls();
        touched();
    });
    refresh();
}

std::string WhatIfSettingsCard::settings() const
{
    return m_line->text().trimmed().toStdString();
}

void WhatIfSettingsCard::change(const char* key, const std::string& value)
{
    m_line->setText(text::utf8(model::withSettings(settings(), { { key, value } })));
    m_line->setCursorPosition(0);
    touched();
}

void WhatIfSettingsCard::showText(const std::string& settings)
{
    m_line->setText(text::utf8(settings));
    m_line->setCursorPosition(0);
    showControls();
}

void WhatIfSettingsCard::showControls()
{
    const QSignalBlocker expandable(m_expandable), maxSplit(m_maxSplit), garbage(m_garbage);
    const std::string all = settings();
    const auto value = [&](const char* key) { return model::settingOf(all, key).value_or(std::string()); };
    m_expandable->setChecked(value(kExpandable) == "True");
    m_maxSplit->setValue(text::utf8(value(kMaxSplit)).toInt());
    m_garbage->setValue(static_cast<int>(std::lround(text::utf8(value(kGarbage)).toDouble() * 100)));
    const std::string divisions = value(kRoundup);
    const int known = divisions.empty() ? 0 : m_roundup->findData(text::utf8(divisions).toInt());
    m_roundup->setCurrentIndex(known); // -1: by size, as the text has it
}

void WhatIfSettingsCard::addTo(model::Scenario& scenario) const
{
    if (isOn())
        scenario.settings = settings();
}

void WhatIfSettingsCard::show(const model::Scenario& scenario)
{
    setOn(scenario.settings.has_value());
    if (scenario.settings)
        showText(*scenario.settings);
}

void WhatIfSettingsCard::refresh()
{
    const auto device = document().device();
    const auto report = device && device->replay ? device->replay->report : nullptr;
    if (!report || report == m_report)
        return;
    m_report = report;
    if (!isOn()) // what was recorded is where it starts
        showText(report->settingsText);
    setEssence(report->settingsText.empty() ? tr("recorded: defaults") : QString());
}

} // namespace strata::views
