// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/axis/x_mapping.h"
#include "views/widgets/timeline/lane_layout.h"
#include "views/widgets/timeline/lanes_data.h"

#include <QFont>
#include <QRect>

namespace strata::views {

/// Where things stand in a picture of lanes, and what stands at a place: lanes, below them marks of the
/// allocator and memory. Points are pixels of the viewport; times are nanoseconds since
/// WorkTracks::startNs(). Points to data and layout of its maker: made anew wherever it is needed.
class LanesGeometry {
public:
    /// `view`: what fills the width; `size`: of the viewport; `scrolled`: pixels; `data` nullptr: nothing.
    LanesGeometry(const LanesData* data, const LaneLayout& lanes, Span view, QSize size, int scrolled,
        const QFont& font);

    [[nodiscard]] const LanesData* data() const { return m_data; }
    [[nodiscard]] const LaneLayout& lanes() const { return *m_lanes; }
    [[nodiscard]] Span view() const { return m_view; }
    [[nodiscard]] QSize size() const { return m_size; }
    [[nodiscard]] const QFont& font() const { return m_font; } ///< of the body
    [[nodiscard]] const model::WorkMemory* memory() const; ///< that is shown; nullptr: none
    [[nodiscard]] const MarkTrack& marks() const;

    [[nodiscard]] QRect plot() const; ///< of the lanes
    [[nodiscard]] QRect memoryPlot() const; ///< empty where there is none
    [[nodiscard]] QRect marksPlot() const; ///< likewise
    [[nodiscard]] int fixedHeight() const; ///< of lanes that do not scroll
    [[nodiscard]] QRect partOf(bool isFixed) const; ///< of plot()
    [[nodiscard]] int yOf(int top) const; ///< of a place in the layout
    [[nodiscard]] int topAt(int y) const; ///< the place in the layout
    [[nodiscard]] double nsAt(int x) const;
    [[nodiscard]] double xOf(double ns) const;
    [[nodiscard]] double nsPerPoint() const;
    [[nodiscard]] int xOfMark(std::int64_t ns) const;
    [[nodiscard]] std::int64_t foldNs() const; ///< marks that are nearer come together

    [[nodiscard]] std::optional<std::size_t> trackAt(int y) const;
    [[nodiscard]] std::optional<std::uint32_t> pieceAt(const QPoint& at) const; ///< row of Work::spans
    [[nodiscard]] QPoint placeOf(std::uint32_t span) const; ///< its middle; may be out of the viewport
    [[nodiscard]] std::optional<std::uint32_t> markAt(const QPoint& at) const;
    [[nodiscard]] QPoint placeOfMark(std::uint32_t mark) const; ///< may be out of the viewport

private:
    [[nodiscard]] int memoryHeight() const; ///< of what is below the lanes and the marks

    const LanesData* m_data;
    const LaneLayout* m_lanes;
    Span m_view;
    QSize m_size;
    int m_scrolled;
    QFont m_font;
};

} // namespace strata::views
