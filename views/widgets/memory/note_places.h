// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QRectF>
#include <QString>

#include <functional>
#include <vector>

namespace strata::views {

struct CanvasScene;

/// Where a note or a named range stands in the picture, in points on the canvas.
struct NotePlace {
    int note = -1; ///< index in CanvasScene::notes
    bool range = false;
    bool turned = false; ///< the flag hangs to the left of its pole, since there is no room at the right
    double from = 0, to = 0; ///< of a range within the picture; of a note both are its pole
    QRectF mark; ///< what the mouse finds: the flag, or the bar
    QString text; ///< shortened to its label; empty: there is no room, the mark alone is painted
    QRectF label;
};

/// A label that wants to stand centred over its mark.
struct WantedRow {
    double centre = 0;
    double width = 0;
};

/// A stretch of one of a few rows; rows are numbered from the foot. row < 0: no room.
struct RowPlace {
    int row = -1;
    double left = 0, width = 0;
};

/// Puts labels into rows so that none overlaps another, first come first served: whole in the lowest row that
/// has room over its mark, moved a little if need be, else cut to what is free there, at least `least` wide.
/// O(n^2).
[[nodiscard]] std::vector<RowPlace> placeInRows(
    const std::vector<WantedRow>& labels, double left, double right, int rows, double gap, double least);

/// Every note and range that is in view; of many on the same pixel the first ones have the labels.
[[nodiscard]] std::vector<NotePlace> placeNotes(const CanvasScene& scene);

/// The notes whose mark or label lies under a point, those whose marks are nearest first: rows of `places`.
[[nodiscard]] std::vector<int> notesAt(const std::vector<NotePlace>& places, QPointF point);

} // namespace strata::views
