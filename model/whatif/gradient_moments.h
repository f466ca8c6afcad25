// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/recorded_optimizers.h"
#include "model/whatif/scenario.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

namespace strata::model {

/// When each gradient is there, for optimizers that would step as gradients come.
class GradientMoments {
public:
    struct Moment {
        std::uint32_t block = 0; ///< row
        EventIndex ready = 0; ///< an event of backward before which nothing has been asked for since
    };

    /// Refused: no deep step tells it, or steps do other things than that one; steps have several backwards;
    /// gradients are kept from step to step; something is asked for between backward and a step, as clipping
    /// does that takes all gradients. O(events + rows of the deep step + listings log steps).
    [[nodiscard]] static Result<GradientMoments> of(
        const RecordedRun& run, const RecordedOptimizers& optimizers);

    /// Of a parameter in a step of an optimizer, by their numbers in `optimizers`; nullptr: it has none
    /// there.
    [[nodiscard]] const Moment* at(std::size_t optimizer, std::size_t step, std::uint32_t parameter) const;

private:
    std::map<std::tuple<std::size_t, std::size_t, std::uint32_t>, Moment> m_moments;
};

} // namespace strata::model
