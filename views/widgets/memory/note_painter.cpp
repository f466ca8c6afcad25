// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_scene.h"
#include "views/widgets/memory/label_places.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

constexpr int kMostMarks = 400; // of a frame: beyond, they would be a bar of their own
constexpr double kMostText = 180;
constexpr double kFlagHeight = 12;

struct NoteLabel {
    QString text;
    double centre;
    QRectF place;
};

/// A pin that stands on the foot of the picture: a pole and a flag to its right.
void paintFlag(QPainter& painter, double x, double foot, const QColor& colour, const QColor& ground)
{
    const double pole = std::floor(x);
    // On a ground of its own: it stands on whatever colours the picture has there.
    painter.fillRect(QRectF(pole - 1, foot - kFlagHeight - 1, 13, kFlagHeight - 2), ground);
    painter.fillRect(QRectF(pole - 1, foot - 3, 4, 3), ground);
    painter.fillRect(QRectF(pole, foot - kFlagHeight, 2, kFlagHeight), colour);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(QPolygonF({ { pole + 2, foot - kFlagHeight }, { pole + 10, foot - kFlagHeight + 3.5 },
        { pole + 2, foot - 5 } }));
    painter.restore();
}

} // namespace

void paintNotes(QPainter& painter, const CanvasScene& scene)
{
    if (scene.notes.empty() || !scene.hasEvents())
        return;
    painter.setFont(scene.axisFont());
    const QFontMetricsF metrics(scene.axisFont());
    const QRect& area = scene.layout.picture;
    const double left = area.left(), right = area.left() + area.width(), foot = area.top() + area.height();
    const QColor colour = scene.colour(Palette::Role::Text);
    QColor ground = scene.colour(Palette::Role::Surface);
    ground.setAlpha(215);
    std::vector<NoteLabel> labels;
    int marks = 0;
    for (const model::UserItem& note : scene.notes) {
        if (note.last >= scene.device->trace->eventCount() || note.first > note.last)
            continue;
        const double from = scene.pointOfEvent(note.first);
        const double to = scene.pointOf(XMapping::endOf(scene.x.axis(), scene.clock(), note.last));
        const bool isRange = note.first != note.last;
        if ((isRange ? to : from) < left || from > right || ++marks > kMostMarks)
            continue;
        double centre = from;
        if (isRange) {
            const double begin = std::max(from, left), end = std::min(to, right);
            painter.fillRect(QRectF(begin, foot - 4, std::max(end - begin, 2.0), 4), ground);
            painter.fillRect(QRectF(begin, foot - 3, std::max(end - begin, 2.0), 3), colour);
            for (const double edge : { from, to })
                if (edge >= left && edge <= right)
                    painter.fillRect(QRectF(std::min(std::floor(edge), right - 1), foot - 8, 1, 8), colour);
            centre = (begin + end) / 2;
        } else {
            paintFlag(painter, from, foot, colour, ground);
            centre = from + 6;
        }
        const QString line = QString::fromStdString(note.text).section(QLatin1Char('\n'), 0, 0);
        const QString text = metrics.elidedText(line, Qt::ElideRight, kMostText);
        const double width = metrics.horizontalAdvance(text) + 8;
        const double x = std::clamp(centre - width / 2, left, std::max(left, right - width));
        labels.push_back(
            { text, centre, QRectF(x, foot - kFlagHeight - 3 - metrics.height(), width, metrics.height()) });
    }
    std::vector<std::pair<double, double>> extents;
    for (const NoteLabel& label : labels)
        extents.emplace_back(label.place.left(), label.place.right());
    const std::vector<bool> fits = labelsThatFit(extents, left, right, 6);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (!fits[i])
            continue;
        painter.fillRect(labels[i].place, ground);
        painter.setPen(colour);
        painter.drawText(labels[i].place, Qt::AlignCenter | Qt::TextSingleLine, labels[i].text);
    }
}

} // namespace strata::views
