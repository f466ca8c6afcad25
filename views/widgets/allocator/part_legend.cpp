// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/part_legend.h"

#include "views/style/type.h"
#include "views/widgets/flow_layout.h"

#include <QPainter>

#include <utility>
#include <vector>

namespace strata::views {

namespace {

constexpr int kSwatch = 12, kGap = 6, kBetween = 16; // before scaling

struct Entry {
    QString name;
    FillStyle style;
    QColor line, text;
};

std::vector<Entry> entriesOf(PartLegend::Of of, const Palette& palette)
{
    const QColor line = palette[Palette::Role::Line], text = palette[Palette::Role::TextMuted];
    std::vector<Entry> all;
    if (of == PartLegend::Of::Chart) {
        for (int p = 0; p < kReservedParts; ++p) {
            const auto part = static_cast<ReservedPart>(p);
            all.push_back({ partName(part), partStyle(palette, part), line, text });
        }
        return all;
    }
    const auto add = [&](const QString& name, Palette::Role role, Pattern pattern) {
        all.push_back({ name,
            FillStyle{ palette[role].rgb(), palette[Palette::Role::Surface].rgb(), pattern }, line, text });
    };
    all.push_back({ PartLegend::tr("in use: a colour for each line of code"),
        FillStyle{ palette.group(0).rgb(), 0, Pattern::Plain }, line, text });
    add(PartLegend::tr("free"), Palette::Role::Free, Pattern::Plain);
    add(PartLegend::tr("rounding and tails not split off"), Palette::Role::Other, Pattern::Crossed);
    all.push_back({ PartLegend::tr("pending free"),
        FillStyle{ palette[Palette::Role::Surface].rgb(), palette[Palette::Role::PendingFree].rgb(),
            Pattern::Dotted },
        line, text });
    add(PartLegend::tr("older than the trace"), Palette::Role::BeforeTrace, Pattern::Banded);
    return all;
}

/// One of them.
class LegendEntry : public QWidget {
public:
    explicit LegendEntry(Entry entry)
        : m_entry(std::move(entry))
    {
    }
    void setEntry(Entry entry)
    {
        m_entry = std::move(entry);
        update();
    }
    [[nodiscard]] QSize sizeHint() const override
    {
        const QFontMetrics metrics(sized(font(), kAxisPx));
        return { scaled(kSwatch + kGap, font()) + metrics.horizontalAdvance(m_entry.name),
            scaled(kRowHeight, font()) };
    }
    [[nodiscard]] QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setFont(sized(font(), kAxisPx));
        const QFontMetrics metrics = painter.fontMetrics();
        const int side = scaled(kSwatch, font());
        const QRect swatch(0, (height() - side) / 2, side, side);
        painter.fillRect(swatch, m_entry.style.brush(std::max(1, qRound(devicePixelRatioF()))));
        painter.setPen(m_entry.line);
        painter.drawRect(swatch.adjusted(0, 0, -1, -1));
        painter.setPen(m_entry.text);
        painter.drawText(
            side + scaled(kGap, font()), (height() + metrics.ascent() - metrics.descent()) / 2, m_entry.name);
    }

private:
    Entry m_entry;
};

} // namespace

PartLegend::PartLegend(Of of, QWidget* parent)
    : QWidget(parent)
    , m_of(of)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    auto* row = new FlowLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacings(kBetween, 0);
    QStringList names;
    for (Entry& entry : entriesOf(of, Palette::light())) {
        names << entry.name;
        row->addWidget(new LegendEntry(std::move(entry)));
    }
    setAccessibleName(tr("Legend"));
    setAccessibleDescription(names.join(QStringLiteral(", ")));
}

void PartLegend::setColours(const Palette& palette)
{
    auto entries = entriesOf(m_of, palette);
    for (std::size_t i = 0; i < entries.size(); ++i)
        static_cast<LegendEntry*>(layout()->itemAt(static_cast<int>(i))->widget())
            ->setEntry(std::move(entries[i]));
}

} // namespace strata::views
