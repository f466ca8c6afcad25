// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_choice_card.h"

#include "model/whatif/ask/change_kind.h"
#include "model/whatif/plan/alternatives.h"
#include "views/style/texts.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>
#include <iterator>
#include <utility>

namespace strata::views {

WhatIfChoiceCard::WhatIfChoiceCard(const model::ChangeKind& kind, WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, text::said(kind.card.title), text::said(kind.card.about))
    , m_kind(kind)
    , m_value(new QComboBox)
{
    m_value->setEditable(true);
    m_value->setInsertPolicy(QComboBox::NoInsert);
    m_value->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_value->setMinimumContentsLength(10);
    m_value->setAccessibleName(onSwitch().text());
    m_value->setToolTip(onSwitch().toolTip());
    inside().addWidget(m_value);
    connect(m_value, &QComboBox::activated, this, [this] {
        showChange();
        touched();
    });
    connect(m_value->lineEdit(), &QLineEdit::textEdited, this, [this] {
        showChange();
        touched();
    });
    refresh();
}

model::Result<std::vector<model::Change>> WhatIfChoiceCard::changes() const
{
    std::vector<model::Change> changes;
    QStringList values{ m_value->currentText().trimmed() };
    if (m_kind.card.takesSeveral) // as a plan has
        values = values.front().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    if (values.isEmpty())
        values << QString();
    for (const QString& value : values) {
        auto asked = model::Change::parse(std::string(m_kind.word) + "=" + value.toStdString());
        if (!asked)
            return model::Failure(asked.error());
        changes.push_back(std::move(*asked));
    }
    return changes;
}

void WhatIfChoiceCard::showChange()
{
    const auto asked = changes();
    if (m_value->count() == 0)
        setNote(text::said(m_kind.card.needs));
    else
        setNote(asked || m_value->currentText().isEmpty() ? QString() : text::said(asked.error().hint.said));
}

void WhatIfChoiceCard::addTo(model::Scenario& scenario) const
{
    if (!isOn())
        return;
    if (auto asked = changes())
        std::ranges::move(*asked, std::back_inserter(scenario.changes));
}

void WhatIfChoiceCard::show(const model::Scenario& scenario)
{
    QStringList values;
    for (const model::Change& change : scenario.changes)
        if (change.kind == &m_kind)
            values << text::utf8(change.value);
    setOn(!values.isEmpty());
    if (!isOn())
        return;
    const QSignalBlocker silent(m_value);
    m_value->setEditText(values.join(QLatin1Char(' ')));
    m_value->lineEdit()->setCursorPosition(0);
    showChange();
}

void WhatIfChoiceCard::refresh()
{
    const auto& device = document().device();
    const model::DeviceTrace* const trace
        = device && whatIf().ready() == WhatIf::Ready::All ? device->trace : nullptr;
    if (std::exchange(m_of, trace) != trace)
        m_worthTrying = trace ? model::valuesWorthTrying(m_kind, *trace) : std::vector<std::string>();
    const std::vector<std::string>& values = m_worthTrying;
    bool same = static_cast<std::size_t>(m_value->count()) == values.size();
    for (std::size_t i = 0; same && i < values.size(); ++i)
        same = m_value->itemText(static_cast<int>(i)) == text::utf8(values[i]);
    if (!same) {
        const QSignalBlocker silent(m_value);
        const QString typed = isOn() ? m_value->currentText() : QString();
        m_value->clear();
        for (const std::string& value : values)
            m_value->addItem(text::utf8(value));
        if (!typed.isEmpty())
            m_value->setEditText(typed);
    }
    m_value->setEnabled(m_value->count() > 0);
    onSwitch().setEnabled(m_value->count() > 0 || isOn());
    showChange();
}

} // namespace strata::views
