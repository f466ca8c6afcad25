// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_size_card.h"

#include "model/whatif/ask/change_kind.h"
#include "model/whatif/kinds/sizes.h"
#include "views/style/labels.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QGridLayout>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QSpinBox>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

namespace strata::views {

namespace {

constexpr int kOctaves = 4; // from half to eight times
constexpr int kMost = 1 << 30; // as the command line takes them
constexpr double kFirst = 0.5;

/// The names of places of a slider, below them.
class SliderScale : public QWidget {
public:
    explicit SliderScale(const QSlider& slider)
        : m_slider(slider)
    {
        setFont(sized(font(), kAxisPx));
        setFixedHeight(fontMetrics().height() + 6);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setPen(palette().color(QPalette::PlaceholderText));
        constexpr int kHandle = 14; // as in the style sheet, before scaling
        const int handle = scaled(kHandle, m_slider.font());
        for (int octave = 0; octave <= kOctaves; ++octave) {
            const QString name
                = octave == 0 ? QStringLiteral("×½") : QStringLiteral("×%1").arg(1 << (octave - 1));
            const int x = handle / 2
                + QStyle::sliderPositionFromValue(0, kOctaves, octave, m_slider.width() - handle, false);
            const int width = painter.fontMetrics().horizontalAdvance(name);
            painter.drawLine(x, 0, x, 3);
            painter.drawText(std::clamp(x - width / 2, 0, std::max(0, this->width() - width)),
                height() - 1 - painter.fontMetrics().descent(), name);
        }
    }

private:
    const QSlider& m_slider;
};

QSpinBox* numberBox()
{
    auto* box = new QSpinBox;
    box->setRange(0, kMost);
    box->setSpecialValueText(WhatIfSizeCard::tr("not known"));
    box->setGroupSeparatorShown(true);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    return box;
}

/// "batch=16".
std::string textOf(const model::ChangeKind& kind, std::int64_t number)
{
    return std::string(kind.word) + "=" + std::to_string(number);
}

/// "×2", "×1.5"; where the slider does not reach says so.
QString factorText(std::int64_t number, std::int64_t recorded)
{
    const double factor = static_cast<double>(number) / static_cast<double>(recorded);
    const QString text = QStringLiteral("×%1").arg(QString::number(factor, 'g', 3));
    const double last = kFirst * std::exp2(kOctaves);
    return factor < kFirst || factor > last ? WhatIfSizeCard::tr("%1, beyond the slider").arg(text) : text;
}

} // namespace

WhatIfSizeCard::WhatIfSizeCard(
    const model::ChangeKind& kind, const Names& names, WhatIf& whatIf, Document& document)
    : WhatIfCard(whatIf, document, names.title, names.about)
    , m_kind(kind)
    , m_slider(new QSlider(Qt::Horizontal))
    , m_number(numberBox())
    , m_recorded(numberBox())
{
    m_slider->setRange(0, kOctaves * kOctave);
    m_slider->setPageStep(kOctave);
    m_slider->setValue(kOctave);
    m_slider->setAccessibleName(names.slider);
    m_number->setAccessibleName(names.number);
    m_recorded->setAccessibleName(names.recorded);
    m_recorded->setToolTip(names.recordedToolTip);
    auto* slider = new QVBoxLayout;
    slider->setSpacing(0);
    slider->addWidget(m_slider);
    slider->addWidget(new SliderScale(*m_slider));
    inside().addLayout(slider);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(kGrid);
    grid->setVerticalSpacing(kGrid);
    grid->setColumnStretch(0, 1);
    grid->setColumnStretch(1, 1);
    const auto add = [&](int row, const QString& text, QSpinBox& box) {
        auto* label = new QLabel(text);
        label->setBuddy(&box);
        grid->addWidget(label, row, 0);
        grid->addWidget(&box, row, 1);
    };
    add(0, names.numberLabel, *m_number);
    add(1, names.recordedLabel, *m_recorded);
    inside().addLayout(grid);
    connect(m_slider, &QSlider::valueChanged, this, [this](int place) {
        if (const auto recorded = recordedNumber())
            ask(numberAt(place, *recorded));
    });
    connect(m_number, &QSpinBox::valueChanged, this, [this](int number) {
        if (number > 0)
            ask(number);
    });
    connect(m_recorded, &QSpinBox::valueChanged, this, [this](int number) {
        takeRecorded(number > 0 ? std::optional<std::int64_t>(number) : std::nullopt);
    });
}

std::int64_t WhatIfSizeCard::numberAt(int place, std::int64_t recorded)
{
    const double factor = kFirst * std::exp2(static_cast<double>(place) / kOctave);
    return std::clamp<std::int64_t>(std::llround(static_cast<double>(recorded) * factor), 1, kMost);
}

int WhatIfSizeCard::placeOf(std::int64_t number, std::int64_t recorded)
{
    const double factor = static_cast<double>(number) / static_cast<double>(recorded) / kFirst;
    return std::clamp(static_cast<int>(std::lround(std::log2(factor) * kOctave)), 0, kOctaves * kOctave);
}

void WhatIfSizeCard::ask(std::int64_t number)
{
    m_asked = number;
    m_text = textOf(m_kind, number);
    showAsked();
    touched();
}

void WhatIfSizeCard::showAsked()
{
    const auto recorded = recordedNumber();
    const QSignalBlocker silent(m_slider), silentNumber(m_number);
    m_number->setMinimum(m_asked > 0 ? 1 : 0); // nobody asks for none
    m_number->setValue(static_cast<int>(std::min<std::int64_t>(m_asked, kMost)));
    std::int64_t asked = m_asked, of = recorded.value_or(0);
    if (const auto change = model::Change::parse(m_text);
        of == 0 && change && change->as<model::SizeAsked>().isRelative) {
        asked = change->as<model::SizeAsked>().numerator; // so many times what nobody knows
        of = change->as<model::SizeAsked>().denominator;
    }
    const bool isFactor = asked > 0 && of > 0;
    if (isFactor)
        m_slider->setValue(placeOf(asked, of));
    setEssence(isFactor ? factorText(asked, of) : QString());
}

void WhatIfSizeCard::addTo(model::Scenario& scenario) const
{
    if (!isOn())
        return;
    if (const auto change = model::Change::parse(m_text))
        scenario.changes.push_back(*change);
}

void WhatIfSizeCard::show(const model::Scenario& scenario)
{
    const auto last
        = std::ranges::find(scenario.changes | std::views::reverse, &m_kind, &model::Change::kind);
    setOn(last != scenario.changes.rend());
    if (!isOn())
        return;
    m_text = last->text; // of several, one after the other: a plan's comes behind what was asked
    takeNumber(*last);
    showAsked();
}

/// 0: so many times what nobody knows yet.
void WhatIfSizeCard::takeNumber(const model::Change& change)
{
    const auto& size = change.as<model::SizeAsked>();
    const std::int64_t of = size.isRelative ? recordedNumber().value_or(0) : 1;
    m_asked = size.numerator * of / size.denominator;
}

bool WhatIfSizeCard::canTakeRecorded() const
{
    return whatIf().ready() == WhatIf::Ready::All;
}

QString WhatIfSizeCard::whyNot() const
{
    if (whatIf().ready() == WhatIf::Ready::All)
        return {};
    if (!document().device() || document().analysing() || whatIf().working())
        return tr("The steps of the training are looked for…");
    return tr("Nobody looked for the steps of the training; the page Leaks begins again.");
}

void WhatIfSizeCard::refresh()
{
    const auto recorded = recordedNumber();
    {
        const QSignalBlocker silent(m_recorded);
        if (!m_recorded->hasFocus())
            m_recorded->setValue(static_cast<int>(std::min<std::int64_t>(recorded.value_or(0), kMost)));
    }
    if (recorded && std::exchange(m_of, *recorded) != *recorded && !isOn()) { // of another recording
        m_asked = *recorded;
        m_text = textOf(m_kind, m_asked);
    }
    if (const auto change = model::Change::parse(m_text); recorded && m_asked <= 0 && change)
        takeNumber(*change);
    showAsked();
    const QString why = whyNot();
    m_slider->setEnabled(why.isEmpty());
    m_number->setEnabled(why.isEmpty());
    m_recorded->setEnabled(canTakeRecorded());
    setNote(why.isEmpty() ? remark() : why);
}

} // namespace strata::views
