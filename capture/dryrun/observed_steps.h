// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::dryrun {

/// Which steps of a program are observed. Step n goes from the beginning of the optimizer's nth step to that
/// of its next: the update, then forward and backward of the turn behind it; 0 is what comes before the
/// first. A step that is observed takes longer than it would, so times are of the others.
///
/// The last is the steadiest, and where it is not known which that is, later ones take the place of earlier
/// ones: 1, which makes the optimizer's state, then 2, 4, 16, 64, ...; one in ever more, so that of a long
/// program nearly all are as they are. Where it is known an early one is too, lest the program ends before.
class ObservedSteps {
public:
    /// `wanted`: after how many the program is ended; 0: nobody knows.
    explicit ObservedSteps(int wanted)
        : m_wanted(wanted)
    {
    }

    [[nodiscard]] bool isObserved(int step) const;

    /// Of a step that was not observed.
    void took(int step, std::int64_t nanoseconds);
    /// The median of those behind the first; of the first where there is no other.
    [[nodiscard]] std::optional<std::int64_t> medianNs() const;
    [[nodiscard]] int timed() const; ///< of how many that is

private:
    static constexpr std::size_t kMostTimes = 4096; ///< the first ones

    int m_wanted;
    std::optional<std::int64_t> m_first;
    std::vector<std::int64_t> m_times;
};

} // namespace strata::dryrun
