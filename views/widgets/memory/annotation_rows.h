// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/annotation_spans.h"

#include <vector>

namespace strata::views {

/// Which levels of annotations have a row in the strip, from the top: all of them where they find room. Where
/// they do not, the outermost level of each thread comes before a second one of any, and the last row says
/// how many there are besides.
struct AnnotationRows {
    struct Row {
        int level = 0;
        std::uint32_t thread = 0;
        bool firstOfThread = false;
    };
    std::vector<Row> rows; ///< in the order of their levels
    int hiddenLevels = 0;
    int hiddenThreads = 0; ///< of which nothing is shown
    bool severalThreads = false;

    /// Rows that it takes, that of what is hidden among them.
    [[nodiscard]] int count() const { return static_cast<int>(rows.size()) + (hiddenLevels > 0 ? 1 : 0); }
    /// The level in a row; -1: none.
    [[nodiscard]] int levelAt(int row) const
    {
        return row >= 0 && row < static_cast<int>(rows.size()) ? rows[static_cast<std::size_t>(row)].level
                                                               : -1;
    }

    /// `spans` as annotationSpans() gives them, `most` rows at least 2. O(levels * log spans).
    [[nodiscard]] static AnnotationRows make(const std::vector<model::AnnotationSpan>& spans, int most);
};

} // namespace strata::views
