// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/what_if_batch_card.h"

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
constexpr int kMostItems = 1 << 30; // as the command line takes them
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

QSpinBox* itemsBox(int least)
{
    auto* box = new QSpinBox;
    box->setRange(least, kMostItems);
    box->setGroupSeparatorShown(true);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    return box;
}

/// "×2", "×1.5"; where the slider does not reach says so.
QString factorText(std::int64_t items, std::int64_t recorded)
{
    const double factor = static_cast<double>(items) / static_cast<double>(recorded);
    const QString text = QStringLiteral("×%1").arg(QString::number(factor, 'g', 3));
    const double last = kFirst * std::exp2(kOctaves);
    return factor < kFirst || factor > last ? WhatIfBatchCard::tr("%1, beyond the slider").arg(text) : text;
}

} // namespace

WhatIfBatchCard::WhatIfBatchCard(WhatIf& whatIf, Document& document)
    : WhatIfCard(
        whatIf, document, tr("Batch"), tr("So many items in a step instead of those that were recorded"))
    , m_slider(new QSlider(Qt::Horizontal))
    , m_items(itemsBox(0))
    , m_recorded(itemsBox(0))
{
    m_slider->setRange(0, kOctaves * kOctave);
    m_slider->setPageStep(kOctave);
    m_slider->setValue(kOctave);
    m_slider->setAccessibleName(tr("Size of the batch, from half to eight times what was recorded"));
    m_items->setAccessibleName(tr("Items of the batch"));
    m_recorded->setAccessibleName(tr("Items of the batch that was recorded"));
    for (QSpinBox* box : { m_items, m_recorded })
        box->setSpecialValueText(tr("not known"));
    m_recorded->setToolTip(
        tr("How many items the batch of this recording has; 0: as the shapes of operators tell"));
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
    add(0, tr("Items"), *m_items);
    add(1, tr("Items recorded"), *m_recorded);
    inside().addLayout(grid);
    connect(m_slider, &QSlider::valueChanged, this, [this](int place) {
        if (const auto recorded = this->whatIf().items())
            ask(itemsAt(place, *recorded));
    });
    connect(m_items, &QSpinBox::valueChanged, this, [this](int items) {
        if (items > 0)
            ask(items);
    });
    connect(m_recorded, &QSpinBox::valueChanged, this, [this](int items) {
        this->whatIf().setSaidItems(items > 0 ? std::optional<std::int64_t>(items) : std::nullopt);
    });
    refresh();
}

std::int64_t WhatIfBatchCard::itemsAt(int place, std::int64_t recorded)
{
    const double factor = kFirst * std::exp2(static_cast<double>(place) / kOctave);
    return std::clamp<std::int64_t>(std::llround(static_cast<double>(recorded) * factor), 1, kMostItems);
}

int WhatIfBatchCard::placeOf(std::int64_t items, std::int64_t recorded)
{
    const double factor = static_cast<double>(items) / static_cast<double>(recorded) / kFirst;
    return std::clamp(static_cast<int>(std::lround(std::log2(factor) * kOctave)), 0, kOctaves * kOctave);
}

void WhatIfBatchCard::ask(std::int64_t items)
{
    m_asked = items;
    m_text = "batch=" + std::to_string(items);
    showAsked();
    touched();
}

void WhatIfBatchCard::showAsked()
{
    const auto recorded = whatIf().items();
    const QSignalBlocker silent(m_slider), silentItems(m_items);
    m_items->setMinimum(m_asked > 0 ? 1 : 0); // nobody asks for none
    m_items->setValue(static_cast<int>(std::min<std::int64_t>(m_asked, kMostItems)));
    std::int64_t asked = m_asked, of = recorded.value_or(0);
    if (const auto change = model::Change::parse(m_text); of == 0 && change && change->relative) {
        asked = change->numerator; // so many times what nobody knows
        of = change->denominator;
    }
    const bool isFactor = asked > 0 && of > 0;
    if (isFactor)
        m_slider->setValue(placeOf(asked, of));
    setEssence(isFactor ? factorText(asked, of) : QString());
}

void WhatIfBatchCard::addTo(model::Scenario& scenario) const
{
    if (!isOn())
        return;
    if (const auto change = model::Change::parse(m_text))
        scenario.changes.push_back(*change);
}

void WhatIfBatchCard::show(const model::Scenario& scenario)
{
    const auto isBatch
        = [](const model::Change& change) { return change.kind == model::Change::Kind::Batch; };
    const auto last = std::ranges::find_if(scenario.changes | std::views::reverse, isBatch);
    setOn(last != scenario.changes.rend());
    if (!isOn())
        return;
    m_text = last->text; // of several, one after the other: a plan's comes behind what was asked
    takeItems(*last);
    showAsked();
}

/// 0: so many times what nobody knows yet.
void WhatIfBatchCard::takeItems(const model::Change& change)
{
    const std::int64_t of = change.relative ? whatIf().items().value_or(0) : 1;
    m_asked = change.numerator * of / change.denominator;
}

/// Of the device that is asked about: the document may be at another by now.
bool WhatIfBatchCard::hasSteps() const
{
    const auto& device = whatIf().device();
    return device && device->training && device->training->steps && !device->training->steps->steps.empty();
}

QString WhatIfBatchCard::whyNot() const
{
    if (whatIf().ready() != WhatIf::Ready::All) {
        if (!document().device() || document().analysing() || whatIf().working())
            return tr("The steps of the training are looked for…");
        return tr("Nobody looked for the steps of the training; the page Leaks begins again.");
    }
    if (!hasSteps())
        return tr("No steps of a training are known here: it takes one that runs forward, backward and "
                  "optimizer.");
    if (!whatIf().items())
        return tr("Say how many items the recorded batch has. Recorded with strata record --operators, the "
                  "shapes of a whole step "
                  "tell it.");
    return {};
}

void WhatIfBatchCard::refresh()
{
    const auto recorded = whatIf().items();
    {
        const QSignalBlocker silent(m_recorded);
        if (!m_recorded->hasFocus())
            m_recorded->setValue(static_cast<int>(std::min<std::int64_t>(recorded.value_or(0), kMostItems)));
    }
    if (recorded && std::exchange(m_of, *recorded) != *recorded && !isOn()) { // of another recording
        m_asked = *recorded;
        m_text = "batch=" + std::to_string(m_asked);
    }
    if (const auto change = model::Change::parse(m_text); recorded && m_asked <= 0 && change)
        takeItems(*change);
    showAsked();
    const QString why = whyNot();
    m_slider->setEnabled(why.isEmpty());
    m_items->setEnabled(why.isEmpty());
    m_recorded->setEnabled(whatIf().ready() == WhatIf::Ready::All && hasSteps());
    setNote(!why.isEmpty()         ? why
            : whatIf().saidItems() ? QString()
                                   : tr("Items recorded: as the shapes of operators tell."));
}

} // namespace strata::views
