// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/spelling.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace strata::model {

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1); // distances of what was read of `a` to the beginnings of `b`
    std::iota(row.begin(), row.end(), std::size_t{ 0 });
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t other = std::min(row[j], row[j + 1]) + 1;
            diagonal = std::exchange(row[j + 1], std::min(other, diagonal + (a[i] == b[j] ? 0 : 1)));
        }
    }
    return row.back();
}

} // namespace strata::model
