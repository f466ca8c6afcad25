// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/icons.h"

#include <QFile>
#include <QIconEngine>
#include <QPainter>
#include <QSvgRenderer>

namespace strata::views {

namespace {

QByteArray source(const QString& name)
{
    QFile file(QStringLiteral(":/strata/icons/%1.svg").arg(name));
    if (!file.open(QIODevice::ReadOnly)) {
        file.setFileName(QStringLiteral(":/strata/icons/page.svg"));
        if (!file.open(QIODevice::ReadOnly))
            return {};
    }
    return file.readAll();
}

/// Draws the strokes, which are black in the file, in a colour of the theme.
class StrokeEngine : public QIconEngine {
public:
    StrokeEngine(QByteArray svg, const QColor& off, const QColor& on)
        : m_svg(std::move(svg))
        , m_off(off)
        , m_on(on)
    {
    }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override
    {
        const QColor colour = state == QIcon::On ? m_on : m_off;
        QByteArray svg = m_svg;
        svg.replace("stroke=\"#000\"", "stroke=\"" + colour.name().toLatin1() + "\"");
        QSvgRenderer renderer(svg);
        painter->save();
        painter->setOpacity(mode == QIcon::Disabled ? 0.4 : 1.0);
        renderer.render(painter, rect);
        painter->restore();
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override
    {
        return scaledPixmap(size, mode, state, 1);
    }

    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect({}, size), mode, state);
        return pixmap;
    }

    QIconEngine* clone() const override { return new StrokeEngine(*this); }

private:
    QByteArray m_svg;
    QColor m_off, m_on;
};

} // namespace

QIcon icon(const QString& name, const QColor& colour)
{
    return QIcon(new StrokeEngine(source(name), colour, colour));
}

QIcon icon(const QString& name, const Palette& palette)
{
    return QIcon(
        new StrokeEngine(source(name), palette[Palette::Role::Text], palette[Palette::Role::Accent]));
}

QPixmap iconPixmap(const QString& name, const QColor& colour, int size, qreal devicePixelRatio)
{
    QPixmap pixmap(QSize(size, size) * devicePixelRatio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    icon(name, colour).paint(&painter, pixmap.rect());
    painter.end();
    pixmap.setDevicePixelRatio(devicePixelRatio);
    return pixmap;
}

} // namespace strata::views
