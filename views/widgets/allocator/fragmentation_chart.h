// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/fragmentation.h"
#include "views/models/document/device_data.h"
#include "views/style/palette.h"
#include "views/widgets/axis/x_mapping.h"
#include "views/widgets/memory/raster/fill_style.h"

#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

class HoverTip;

/// What reserved memory was made of at instants over all of a trace. Immutable; any thread.
struct FragmentationSamples {
    std::shared_ptr<const DeviceData> device;
    model::Axis axis = model::Axis::Events;
    std::vector<model::Fragmentation> at; ///< evenly along the axis
};

/// What reserved memory is made of, in the order of FragmentationChart, from the ground up.
enum class ReservedPart : std::uint8_t { InUse, Rounding, Unsplit, Pending, Pinned, Cached };
inline constexpr int kReservedParts = 6;
[[nodiscard]] QString partName(ReservedPart part);
[[nodiscard]] std::int64_t bytesOf(const model::Fragmentation& of, ReservedPart part);
[[nodiscard]] FillStyle partStyle(const Palette& palette, ReservedPart part);

/// Reserved memory over time, in its parts: what is in use at the ground, then what rounding, unsplit tails,
/// other streams, pinned segments and cached ones keep from use. A click chooses an instant. GUI thread only.
class FragmentationChart : public QWidget {
    Q_OBJECT
public:
    explicit FragmentationChart(QWidget* parent = nullptr);

    void setSamples(std::shared_ptr<const FragmentationSamples> samples);
    [[nodiscard]] const std::shared_ptr<const FragmentationSamples>& samples() const { return m_samples; }
    void setInstant(model::EventIndex event); ///< that is marked; -1: none
    void setColours(const Palette& palette);
    /// What hovering over a sample says.
    [[nodiscard]] QStringList describe(const model::Fragmentation& sample) const;
    [[nodiscard]] std::optional<int> sampleAt(const QPointF& at) const;
    [[nodiscard]] QRect plot() const;
    void paintOn(QPainter& painter, bool vector) const;
    [[nodiscard]] QSize sizeHint() const override { return { 640, 220 }; }
    [[nodiscard]] QSize minimumSizeHint() const override { return { 240, 120 }; }

Q_SIGNALS:
    void instantChosen(strata::model::EventIndex event);
    void hovered(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    [[nodiscard]] XMapping xMapping() const;
    [[nodiscard]] YMapping yMapping() const;

    std::shared_ptr<const FragmentationSamples> m_samples;
    model::EventIndex m_instant = -1;
    std::optional<int> m_hovered;
    Palette m_palette = Palette::light();
    HoverTip* m_tip;
};

} // namespace strata::views
