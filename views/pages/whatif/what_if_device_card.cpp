// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_device_card.h"

#include "model/base/units.h"
#include "model/cards/catalogue.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QStyle>
#include <QVBoxLayout>

namespace strata::views {

WhatIfDeviceCard::WhatIfDeviceCard(WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, tr("Device"),
        tr("A device with other memory: whether the run comes to its end on it, and where it does not"))
    , m_card(new QComboBox)
    , m_capacity(new QLineEdit)
{
    for (const model::Card& card : model::cards()) {
        m_card->addItem(text::utf8(card.name), static_cast<qint64>(card.capacityBytes));
        m_card->setItemData(m_card->count() - 1,
            tr("%1, %2\n%3")
                .arg(text::utf8(card.product), text::exactBytes(card.capacityBytes),
                    text::utf8(card.capacitySource)),
            Qt::ToolTipRole);
    }
    m_card->setMaxVisibleItems(m_card->count());
    m_card->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_card->setMinimumContentsLength(10);
    m_card->setPlaceholderText(tr("none chosen")); // in grey
    m_card->setCurrentIndex(-1);
    m_capacity->setToolTip(tr("Another size of the device's memory, such as 16GiB; empty: the card's own"));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(kGrid);
    grid->setVerticalSpacing(kGrid / 2);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    const auto add = [&](int row, const QString& text, QWidget& control) {
        auto* label = new QLabel(text);
        label->setBuddy(&control);
        control.setAccessibleName(text);
        grid->addWidget(label, row, 0);
        grid->addWidget(&control, row, 1);
    };
    add(0, tr("Card"), *m_card);
    add(1, tr("Memory"), *m_capacity);
    inside().addLayout(grid);
    connect(&onSwitch(), &QCheckBox::toggled, this, &WhatIfDeviceCard::showCapacity);
    connect(m_card, &QComboBox::activated, this, [this] {
        m_capacity->clear();
        showCapacity();
        touched();
    });
    connect(m_capacity, &QLineEdit::textEdited, this, [this] {
        showCapacity();
        touched();
    });
    showCapacity();
}

std::optional<std::int64_t> WhatIfDeviceCard::capacityBytes() const
{
    const QString typed = m_capacity->text().trimmed();
    if (typed.isEmpty())
        return m_card->currentIndex() >= 0 ? std::optional<std::int64_t>(m_card->currentData().toLongLong())
                                           : std::nullopt;
    const auto bytes = model::parseBytes(typed.toStdString());
    return bytes && *bytes > 0 ? bytes : std::nullopt;
}

void WhatIfDeviceCard::showCapacity()
{
    const bool isChosen = m_card->currentIndex() >= 0, isTyped = !m_capacity->text().trimmed().isEmpty();
    m_capacity->setPlaceholderText(isChosen ? text::bytes(m_card->currentData().toLongLong()) : QString());
    m_card->setProperty("muted", !isChosen);
    m_card->style()->unpolish(m_card);
    m_card->style()->polish(m_card);
    setNote(capacityBytes() ? QString()
            : isTyped       ? tr("That is no size: give one such as 16GiB.")
            : isOn()        ? tr("Choose a card, or give a size such as 16GiB.")
                            : QString());
}

void WhatIfDeviceCard::addTo(model::Scenario& scenario) const
{
    if (isOn())
        scenario.capacityBytes = capacityBytes();
}

void WhatIfDeviceCard::show(const model::Scenario& scenario)
{
    setOn(scenario.capacityBytes.has_value());
    if (!scenario.capacityBytes)
        return;
    const int card = m_card->findData(static_cast<qint64>(*scenario.capacityBytes));
    m_card->setCurrentIndex(card);
    m_capacity->setText(card >= 0 ? QString() : QString::number(*scenario.capacityBytes));
    showCapacity();
}

void WhatIfDeviceCard::refresh()
{
    const auto device = document().device();
    const auto report = device && device->replay ? device->replay->report : nullptr;
    const std::int64_t recorded = report ? report->capacityBytes.value_or(0) : 0;
    setEssence(recorded > 0 ? tr("recorded: %1").arg(text::bytes(recorded)) : QString());
    const std::pair<const void*, std::int64_t> of{ device ? device->trace : nullptr, recorded };
    if (isOn() || std::exchange(m_of, of) == of)
        return;
    m_card->setCurrentIndex(recordedCard(recorded));
    m_capacity->clear();
    showCapacity();
}

/// By the name that its driver gives it, else by its memory; -1: it is not in the catalogue.
int WhatIfDeviceCard::recordedCard(std::int64_t capacityBytes) const
{
    const auto device = document().device();
    if (!device || capacityBytes <= 0)
        return -1;
    const model::Card* const card = WhatIfRun::of(*device).card();
    return card != nullptr ? m_card->findText(text::utf8(card->name))
                           : m_card->findData(static_cast<qint64>(capacityBytes));
}

} // namespace strata::views
