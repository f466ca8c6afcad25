// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/legend.h"

#include "views/style/type.h"
#include "views/widgets/flow_layout.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr int kLegendSwatch = 12, kLegendGap = 6, kBetween = 16; // before scaling

/// One of them.
class LegendEntry : public QWidget {
public:
    void setEntry(Legend::Entry entry, const Palette& palette)
    {
        if (entry.name != m_entry.name)
            updateGeometry();
        m_entry = std::move(entry);
        m_rim = palette[Palette::Role::Line];
        m_text = palette[Palette::Role::TextMuted];
        m_surface = palette[Palette::Role::Surface];
        update();
    }
    [[nodiscard]] QString name() const
    {
        return m_entry.letter.isEmpty() ? m_entry.name : m_entry.letter + QLatin1Char(' ') + m_entry.name;
    }
    [[nodiscard]] QSize sizeHint() const override
    {
        const QFontMetrics metrics(sized(font(), kAxisPx));
        return { scaled(kLegendSwatch + kLegendGap, font()) + metrics.horizontalAdvance(m_entry.name),
            scaled(kRowHeight, font()) };
    }
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

    void paintOn(QPainter& painter) const
    {
        painter.setFont(sized(font(), kAxisPx));
        const QFontMetrics metrics = painter.fontMetrics();
        const int side = scaled(kLegendSwatch, font());
        const QRect swatch(0, (height() - side) / 2, side, side);
        const QBrush fill = m_entry.fill(std::max(1, qRound(devicePixelRatioF())));
        if (m_entry.line && m_entry.dashed) {
            const int dash = std::max(1, side / 3);
            for (const int x : { 0, side - dash })
                painter.fillRect(QRect(x, height() / 2 - 1, dash, 2), fill);
        } else if (m_entry.line) {
            painter.fillRect(QRect(0, height() / 2 - 1, side, 2), fill);
        } else {
            painter.fillRect(swatch, fill);
            painter.setPen(m_rim);
            painter.drawRect(swatch.adjusted(0, 0, -1, -1));
        }
        if (!m_entry.letter.isEmpty()) {
            painter.setPen(m_surface);
            painter.drawText(swatch, Qt::AlignCenter, m_entry.letter);
        }
        painter.setPen(m_text);
        painter.drawText(side + scaled(kLegendGap, font()),
            (height() + metrics.ascent() - metrics.descent()) / 2, m_entry.name);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        paintOn(painter);
    }

private:
    Legend::Entry m_entry;
    QColor m_rim, m_text, m_surface;
};

} // namespace

Legend::Legend(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    auto* row = new FlowLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacings(kBetween, 0);
    setAccessibleName(tr("Legend"));
}

void Legend::setEntries(std::vector<Entry> entries, const Palette& palette)
{
    while (layout()->count() > static_cast<int>(entries.size())) {
        QLayoutItem* const last = layout()->takeAt(layout()->count() - 1);
        delete last->widget();
        delete last;
    }
    while (layout()->count() < static_cast<int>(entries.size()))
        layout()->addWidget(new LegendEntry);
    for (std::size_t i = 0; i < entries.size(); ++i)
        static_cast<LegendEntry*>(layout()->itemAt(static_cast<int>(i))->widget())
            ->setEntry(std::move(entries[i]), palette);
    setAccessibleDescription(names().join(QStringLiteral(", ")));
}

void Legend::paintOn(QPainter& painter) const
{
    for (int i = 0; i < layout()->count(); ++i) {
        const auto* entry = static_cast<const LegendEntry*>(layout()->itemAt(i)->widget());
        painter.save();
        painter.translate(entry->pos());
        entry->paintOn(painter);
        painter.restore();
    }
}

QStringList Legend::names() const
{
    QStringList all;
    for (int i = 0; i < layout()->count(); ++i)
        all << static_cast<const LegendEntry*>(layout()->itemAt(i)->widget())->name();
    return all;
}

} // namespace strata::views
