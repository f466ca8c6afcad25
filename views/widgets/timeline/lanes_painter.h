// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/style/palette.h"
#include "views/widgets/quick_text.h"
#include "views/widgets/timeline/found_pieces.h"
#include "views/widgets/timeline/lanes_geometry.h"

#include <unordered_map>

namespace strata::views {

/// All that is painted of lanes, for one frame.
struct LanesScene {
    LanesGeometry places;
    const FoundPieces& found;
    std::optional<std::uint32_t> current; ///< the piece that is chosen
    std::optional<std::uint32_t> partner; ///< the piece that launched it, or that it launched
    std::optional<std::uint32_t> mark; ///< the chosen one
    std::optional<Span> measured;
    std::optional<int> dropTop; ///< in the layout: where the track that is dragged would come
    qreal ratio; ///< device pixels per pixel
    bool hasFocus;
};

/// Draws lanes, what stands below them, and the axis above. Keeps names as they are drawn. Costs what is in
/// view, and per pixel where pieces are narrower. GUI thread only.
class LanesPainter {
public:
    explicit LanesPainter(const QFont& font)
        : m_text(font)
    {
    }

    void setColours(const Palette& palette);
    void forgetNames() { m_names.clear(); } ///< for data of another recording
    void paint(QPainter& painter, const LanesScene& scene);

private:
    [[nodiscard]] const QString& nameOf(const LanesScene& scene, model::StringId name);
    void paintRow(QPainter& painter, const LanesScene& scene, const LaneLayout::Row& row, int top);
    void paintLanes(QPainter& painter, const LanesScene& scene, bool isFixed);
    void paintNames(QPainter& painter, const LanesScene& scene, bool isFixed) const;
    void paintSelection(QPainter& painter, const LanesScene& scene) const;
    void paintLaunch(QPainter& painter, const LanesScene& scene) const;

    Palette m_palette = Palette::light();
    std::vector<QColor> m_fills; // by LanesData::lookOf()
    QuickText m_text;
    std::unordered_map<std::uint32_t, QString> m_names; // nameOf(), of the data
};

} // namespace strata::views
