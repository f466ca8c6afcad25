// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/axis/x_mapping.h"

#include <QString>
#include <vector>

namespace strata::views {

struct Tick {
    double value = 0;
    QString label;
    friend bool operator==(const Tick&, const Tick&) = default;
};

/// Round values within `span`, at most `most` of them (and at least one step apart), with labels that all
/// have the same unit and as many digits as the step needs.
///
/// Bytes: 1, 2 or 5 times a power of ten of the binary unit in which the upper end is read best: "0.5 GiB".
[[nodiscard]] std::vector<Tick> byteTicks(Span span, int most);
/// The same for a scale that is read alone: two of them, even where that takes more than `most`.
[[nodiscard]] std::vector<Tick> scaleTicks(Span span, int most);
/// Events: whole numbers, "41,200".
[[nodiscard]] std::vector<Tick> eventTicks(Span span, int most);
/// Nanoseconds since the start: "12.384 s", "350 us".
[[nodiscard]] std::vector<Tick> timeTicks(Span span, int most);

[[nodiscard]] inline std::vector<Tick> axisTicks(model::Axis axis, Span span, int most)
{
    return axis == model::Axis::Events ? eventTicks(span, most) : timeTicks(span, most);
}

} // namespace strata::views
