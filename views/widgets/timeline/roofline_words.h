// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/timeline/lanes_data.h"

#include <QStringList>

namespace strata::views::text {

[[nodiscard]] QString flopRate(double perSecond); ///< "12.7 TFLOP/s"
[[nodiscard]] QString byteRate(double perSecond); ///< "3.35 TB/s"
[[nodiscard]] QString intensity(double flopsPerByte); ///< "90.8 FLOP/B"
[[nodiscard]] QString numberType(model::NumberType type); ///< "BF16"
[[nodiscard]] QString costKind(model::CostKind kind); ///< "matrix product"
[[nodiscard]] QString rooflineBound(const model::Roofline& roofline, const model::RooflineRow& row);
/// "aten::addmm [512] [141,512]", all of it.
[[nodiscard]] QString rooflineName(const WorkFigures& figures, std::uint32_t row);
/// A row of the roofline, in lines: its name, what it did, how fast, and what limits it.
[[nodiscard]] QStringList rooflineRow(const WorkFigures& figures, std::uint32_t row);

} // namespace strata::views::text
