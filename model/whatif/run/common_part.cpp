// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/common_part.h"

#include <algorithm>
#include <cstddef>

namespace strata::model {

namespace {

using Items = std::span<const std::int64_t>;

/// A part of both without what their ends have in common.
struct Middle {
    Items first, second;
    std::size_t firstAt = 0, secondAt = 0; ///< where they begin

    [[nodiscard]] bool isSame(std::ptrdiff_t x, std::ptrdiff_t y) const
    {
        return first[static_cast<std::size_t>(x)] == second[static_cast<std::size_t>(y)];
    }
};

/// The furthest places of each round d, by diagonal k from -d to d; the last one has found the end. Empty: it
/// would take too long.
std::vector<std::vector<std::ptrdiff_t>> roundsOf(const Middle& middle)
{
    constexpr std::ptrdiff_t kMostDifferences = 2000;
    constexpr std::ptrdiff_t kMostSteps = std::ptrdiff_t{ 1 } << 28; // a second
    const auto n = static_cast<std::ptrdiff_t>(middle.first.size());
    const auto m = static_cast<std::ptrdiff_t>(middle.second.size());
    const std::ptrdiff_t most = std::min({ n + m, kMostDifferences, kMostSteps / (n + m) + 1 });
    const auto at = [&](std::ptrdiff_t k) { return static_cast<std::size_t>(k + most + 1); };
    std::vector<std::ptrdiff_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    std::vector<std::vector<std::ptrdiff_t>> rounds;
    for (std::ptrdiff_t d = 0; d <= most; ++d) {
        bool found = false;
        for (std::ptrdiff_t k = -d; k <= d && !found; k += 2) {
            std::ptrdiff_t x = k == -d || (k != d && furthest[at(k - 1)] < furthest[at(k + 1)])
                ? furthest[at(k + 1)]
                : furthest[at(k - 1)] + 1;
            while (x < n && x - k < m && middle.isSame(x, x - k))
                ++x;
            furthest[at(k)] = x;
            found = x >= n && x - k >= m;
        }
        rounds.emplace_back(furthest.begin() + static_cast<std::ptrdiff_t>(at(-d)),
            furthest.begin() + static_cast<std::ptrdiff_t>(at(d)) + 1);
        if (found)
            return rounds;
    }
    return {};
}

void pairMiddle(const Middle& middle, std::vector<std::uint32_t>& partners)
{
    const auto rounds = roundsOf(middle);
    auto x = static_cast<std::ptrdiff_t>(middle.first.size());
    auto y = static_cast<std::ptrdiff_t>(middle.second.size());
    for (auto d = static_cast<std::ptrdiff_t>(rounds.size()) - 1; d >= 0; --d) {
        const std::ptrdiff_t k = x - y;
        const auto before = [&](std::ptrdiff_t diagonal) {
            return rounds[static_cast<std::size_t>(d - 1)][static_cast<std::size_t>(diagonal + d - 1)];
        };
        std::ptrdiff_t fromX = 0, fromY = 0;
        if (d > 0) {
            const bool inserts = k == -d || (k != d && before(k - 1) < before(k + 1));
            fromX = before(inserts ? k + 1 : k - 1);
            fromY = fromX - (inserts ? k + 1 : k - 1);
        }
        while (x > fromX && y > fromY && middle.isSame(x - 1, y - 1)) {
            --x;
            --y;
            partners[middle.firstAt + static_cast<std::size_t>(x)]
                = static_cast<std::uint32_t>(middle.secondAt + static_cast<std::size_t>(y));
        }
        x = fromX;
        y = fromY;
    }
}

} // namespace

std::vector<std::uint32_t> commonPart(Items first, Items second)
{
    std::vector<std::uint32_t> partners(first.size(), kNoPartner);
    const std::size_t shorter = std::min(first.size(), second.size());
    std::size_t begin = 0, end = 0;
    for (; begin < shorter && first[begin] == second[begin]; ++begin)
        partners[begin] = static_cast<std::uint32_t>(begin);
    for (; end < shorter - begin && first[first.size() - 1 - end] == second[second.size() - 1 - end]; ++end)
        partners[first.size() - 1 - end] = static_cast<std::uint32_t>(second.size() - 1 - end);
    const Middle middle{ first.subspan(begin, first.size() - begin - end),
        second.subspan(begin, second.size() - begin - end), begin, begin };
    if (!middle.first.empty() && !middle.second.empty())
        pairMiddle(middle, partners);
    return partners;
}

} // namespace strata::model
