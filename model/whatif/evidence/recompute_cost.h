// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/clock.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/deep_step.h"
#include "model/analysis/training/deep/step_owners.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::model {

/// What computing something again is counted in.
enum class RecomputeMeasure : std::uint8_t {
    KernelTime, ///< nanoseconds of the kernels that it launches, where they were recorded
    Bytes, ///< that it asks the allocator for: results and scratch of its operators, written once at least
};
[[nodiscard]] std::string_view measureWord(RecomputeMeasure measure); ///< "kernels", "bytes"

/// What stretches of a deep step's forward cost when they are computed once more. Immutable; any thread.
class RecomputeCost {
public:
    /// Kernel time where kernels of the step were recorded, else bytes. O(kernels log kernels + events).
    RecomputeCost(const DeviceTrace& trace, const DeepStep& step);

    [[nodiscard]] RecomputeMeasure measure() const { return m_measure; }
    /// Of what lies between two moments: a kernel counts where it is launched, behind the request for its
    /// result. O(log n).
    [[nodiscard]] std::int64_t of(const DeepMoment& from, const DeepMoment& to) const;

private:
    [[nodiscard]] bool takeKernels(const DeviceTrace& trace, const DeepStep& step);

    Clock m_clock;
    EventIndex m_begin = 0;
    RecomputeMeasure m_measure = RecomputeMeasure::Bytes;
    std::vector<std::int64_t> m_launched; // times, of kernels
    std::vector<std::int64_t> m_sums; // up to each kernel; or up to each event of the step
};

} // namespace strata::model
