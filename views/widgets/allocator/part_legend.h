// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/allocator/fragmentation_chart.h"

#include <QWidget>

namespace strata::views {

/// What the fills of the address map, or of fragmentation over time, stand for: swatches with their names, in
/// as many lines as the room asks for.
class PartLegend : public QWidget {
    Q_OBJECT
public:
    enum class Of { Map, Chart };
    explicit PartLegend(Of of, QWidget* parent = nullptr);

    void setColours(const Palette& palette);

private:
    Of m_of;
};

} // namespace strata::views
