// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/annotation_spans.h"
#include "views/models/document/document.h"
#include "views/style/palette.h"
#include "views/widgets/memory/annotation_rows.h"
#include "views/widgets/memory/canvas_layout.h"
#include "views/widgets/memory/note_places.h"
#include "views/widgets/memory/raster/blocks_raster.h"
#include "views/widgets/memory/raster/curve_spans.h"

#include <QFont>

class QImage;
class QPainter;

namespace strata::views {

/// All that the painters of the canvas need to know of a frame. A value that the canvas fills before it
/// paints; the painters change nothing and ask the model only what costs O(pixel columns) or O(log n).
struct CanvasScene {
    std::shared_ptr<const DeviceData> device; ///< never nullptr when painted
    Palette palette = Palette::light();
    CanvasLayout layout;
    AnnotationRows annotationRows;
    PictureMode mode = PictureMode::Stacked;
    qreal ratio = 1; ///< device pixels per point
    XMapping x; ///< on device pixels
    YMapping y; ///< of the picture, on device pixels
    YMapping curveY; ///< of the curves; the same as y in the stacked mode
    CurveColumns curves;
    std::vector<model::UserItem> notes; ///< notes and named ranges of the device
    std::vector<NotePlace> notePlaces; ///< where they stand in this frame
    std::vector<StripGroup> strips;
    QFont font; ///< of the body; the axis' is smaller

    [[nodiscard]] QFont axisFont() const;
    [[nodiscard]] QColor colour(Palette::Role role) const { return palette[role]; }
    /// Of curves that stand upon areas: no colour that one of these could have.
    [[nodiscard]] Palette::Role requestedRole() const
    {
        return mode == PictureMode::Stacked ? Palette::Role::Text : Palette::Role::Requested;
    }
    [[nodiscard]] Palette::Role allocatedRole() const
    {
        return mode == PictureMode::Stacked ? Palette::Role::TextMuted : Palette::Role::Text;
    }
    [[nodiscard]] const std::vector<model::AnnotationSpan>& annotations() const
    {
        return *device->annotations;
    }
    [[nodiscard]] const model::Recording& recording() const { return device->trace->recording(); }
    [[nodiscard]] const model::DriverCurve& driver() const { return *device->driver; }
    [[nodiscard]] const model::DeviceTimeline& timeline() const { return *device->timeline; }
    [[nodiscard]] const model::Clock& clock() const { return device->timeline->clock(); }
    [[nodiscard]] bool hasEvents() const { return device->trace->eventCount() > 0; }

    /// In points on the canvas.
    [[nodiscard]] double pointOf(double value) const { return layout.left() + x.columnOf(value) / ratio; }
    [[nodiscard]] double pointOfEvent(model::EventIndex e) const
    {
        return pointOf(model::axisPosition(x.axis(), clock(), e));
    }
    [[nodiscard]] double curvePoint(std::int64_t bytes) const
    {
        return layout.curves.top() + curveY.rowOf(static_cast<double>(bytes)) / ratio;
    }
};

/// Gridlines and the scales at the left and below.
void paintAxes(QPainter& painter, const CanvasScene& scene);
/// Requested with its pending-free part, and reserved; the area under them in the blocks mode.
void paintCurves(QPainter& painter, const CanvasScene& scene);
/// The same into the pixels of a frame of Format_RGB32, many times faster.
void paintCurves(QImage& frame, const CanvasScene& scene);
/// The capacity, the end state, the peak, out-of-memory events.
void paintMarks(QPainter& painter, const CanvasScene& scene);
/// What the driver said was in use, a ring for each reading: between two of them nothing is known.
void paintDriver(QPainter& painter, const CanvasScene& scene);
void paintReading(QPainter& painter, const CanvasScene& scene, QPointF at);
/// The same after `event`; none before the first reading.
[[nodiscard]] std::optional<std::int64_t> driverBytesAt(const CanvasScene& scene, model::EventIndex event);
/// Flags of notes and bars of named ranges along the foot of the picture, all of them, and their labels.
void paintNotes(QPainter& painter, const CanvasScene& scene);
/// The curves' names and values at the right.
void paintCurveLabels(QPainter& painter, const CanvasScene& scene);
/// What a thread is called: its name, or its number.
[[nodiscard]] QString threadText(const model::Recording& recording, std::uint32_t thread);
/// What the last row says of the annotations that have none.
[[nodiscard]] QString hiddenRowsText(const AnnotationRows& rows);
/// The strip of annotations.
void paintAnnotations(QPainter& painter, const CanvasScene& scene);
/// Lines between pools and streams, and their names at the left: blocks mode.
void paintStripGroups(QPainter& painter, const CanvasScene& scene);

/// The annotation at a point of the canvas; nullptr if there is none.
[[nodiscard]] const model::AnnotationSpan* annotationAt(const CanvasScene& scene, QPointF point);

} // namespace strata::views
