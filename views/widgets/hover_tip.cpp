// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/hover_tip.h"

#include <QPainter>

#include <algorithm>

namespace strata::views {

namespace {
constexpr int kPaddingX = 10;
constexpr int kPaddingY = 7;
constexpr int kWidest = 560;
constexpr int kDistance = 16; // from the cursor
} // namespace

HoverTip::HoverTip(QWidget* parent)
    : QWidget(parent)
{
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    hide();
}

void HoverTip::setColours(const Palette& palette)
{
    m_palette = palette;
    update();
}

void HoverTip::showAt(const QPoint& at, const QStringList& lines)
{
    m_lines = lines;
    QFont bold = font();
    bold.setBold(true);
    int width = QFontMetrics(bold).horizontalAdvance(lines.value(0));
    for (const QString& line : lines.mid(1))
        width = std::max(width, fontMetrics().horizontalAdvance(line));
    const int height = static_cast<int>(lines.size()) * fontMetrics().lineSpacing();
    // Advances are rounded: a pixel more, or a line that just fits would be shortened.
    resize(std::min(width + 1, kWidest) + 2 * kPaddingX, height + 2 * kPaddingY);

    const QRect room = parentWidget()->rect();
    int x = at.x() + kDistance;
    if (x + this->width() > room.right())
        x = std::max(room.left(), at.x() - kDistance - this->width());
    int y = at.y() + kDistance;
    if (y + this->height() > room.bottom())
        y = std::max(room.top(), at.y() - kDistance - this->height());
    move(x, y);
    show();
    update();
}

void HoverTip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_palette[Palette::Role::Tooltip]);
    QColor muted = m_palette[Palette::Role::TooltipText];
    muted.setAlphaF(0.75F);
    int y = kPaddingY;
    for (int i = 0; i < m_lines.size(); ++i) {
        QFont face = font();
        face.setBold(i == 0);
        painter.setFont(face);
        painter.setPen(i == m_lines.size() - 1 && i > 1 ? muted : m_palette[Palette::Role::TooltipText]);
        const QRect line(kPaddingX, y, width() - 2 * kPaddingX, fontMetrics().lineSpacing());
        painter.drawText(line, static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter),
            QFontMetrics(face).elidedText(m_lines[i], Qt::ElideMiddle, line.width()));
        y += fontMetrics().lineSpacing();
    }
}

} // namespace strata::views
