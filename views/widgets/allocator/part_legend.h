// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/allocator/fragmentation_chart.h"
#include "views/widgets/legend.h"

namespace strata::views {

/// What the fills of the address map, or of fragmentation over time, stand for.
class PartLegend : public Legend {
    Q_OBJECT
public:
    enum class Of { Map, Chart };
    explicit PartLegend(Of of, QWidget* parent = nullptr);

    void setColours(const Palette& palette);

private:
    Of m_of;
};

} // namespace strata::views
