// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/work.h"

#include <vector>

namespace strata::model {

/// Which call launched a piece of a device's work. Keeps places of the work's rows, which must outlive it.
class Launches {
public:
    explicit Launches(const Work& work); ///< O(n log n)

    /// nullptr: it is not known.
    [[nodiscard]] const WorkSpan* of(const WorkSpan& piece) const; ///< O(log n)

private:
    std::vector<const WorkSpan*> m_calls; // by correlation; of several with the same the first of the file
};

} // namespace strata::model
