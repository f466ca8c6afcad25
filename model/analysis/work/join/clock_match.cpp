// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/join/clock_match.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <tuple>

namespace strata::model {

namespace {

constexpr std::size_t kMostSeekers = 4'000;
constexpr std::size_t kMostPairs = 8'000'000;
constexpr std::int64_t kFarNs = INT64_MAX / 4; // no clock lies further from another: sums stay in range

void sort(std::vector<ClockMark>& marks)
{
    std::erase_if(marks, [](const ClockMark& mark) { return mark.timeNs < -kFarNs || mark.timeNs > kFarNs; });
    std::ranges::sort(marks, {}, [](const ClockMark& mark) { return std::tuple(mark.key, mark.timeNs); });
}

std::span<const ClockMark> withKey(const std::vector<ClockMark>& marks, std::uint64_t key)
{
    const auto found = std::ranges::equal_range(marks, key, {}, &ClockMark::key);
    return { found.begin(), found.end() };
}

/// Offsets of pairs of the same key.
std::vector<std::int64_t> pairOffsets(
    const std::vector<ClockMark>& one, const std::vector<ClockMark>& other, std::size_t& seekers)
{
    std::vector<std::pair<std::size_t, std::size_t>> seeking; // how many others, row of `one`
    for (std::size_t row = 0; row < one.size(); ++row)
        if (const auto same = withKey(other, one[row].key); !same.empty())
            seeking.emplace_back(same.size(), row);
    std::ranges::sort(seeking);
    std::vector<std::int64_t> offsets;
    for (const auto& [count, row] : seeking) {
        if (seekers == kMostSeekers || offsets.size() + count > kMostPairs)
            break;
        ++seekers;
        for (const ClockMark& same : withKey(other, one[row].key))
            offsets.push_back(one[row].timeNs - same.timeNs);
    }
    std::ranges::sort(offsets);
    return offsets;
}

/// How many offsets lie in the window that begins with each.
std::vector<std::size_t> crowds(const std::vector<std::int64_t>& offsets)
{
    std::vector<std::size_t> counts(offsets.size());
    std::size_t end = 0;
    for (std::size_t at = 0; at < offsets.size(); ++at) {
        while (end < offsets.size() && offsets[end] - offsets[at] <= kMatchWindowNs)
            ++end;
        counts[at] = end - at;
    }
    return counts;
}

/// Offsets of the marks of `one` to the nearest of `other` with their key, where that is near.
std::vector<std::int64_t> offsetsNear(
    const std::vector<ClockMark>& one, const std::vector<ClockMark>& other, std::int64_t offsetNs)
{
    std::vector<std::int64_t> offsets;
    for (const ClockMark& mark : one) {
        const auto same = withKey(other, mark.key);
        const std::int64_t wanted = mark.timeNs - offsetNs;
        const auto behind = std::ranges::lower_bound(same, wanted, {}, &ClockMark::timeNs);
        std::optional<std::int64_t> nearest;
        const auto look = [&](const ClockMark& found) {
            if (!nearest || std::abs(found.timeNs - wanted) < std::abs(*nearest - wanted))
                nearest = found.timeNs;
        };
        if (behind != same.end())
            look(*behind);
        if (behind != same.begin())
            look(*std::prev(behind));
        if (nearest && std::abs(*nearest - wanted) <= kMatchWindowNs)
            offsets.push_back(mark.timeNs - *nearest);
    }
    std::ranges::sort(offsets);
    return offsets;
}

} // namespace

std::optional<ClockMatch> matchClocks(std::vector<ClockMark> one, std::vector<ClockMark> other)
{
    sort(one);
    sort(other);
    std::size_t seekers = 0;
    const std::vector<std::int64_t> offsets = pairOffsets(one, other, seekers);
    if (seekers < static_cast<std::size_t>(kFewestMatches))
        return {};
    const std::vector<std::size_t> counts = crowds(offsets);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
    std::size_t second = 0; // of those that lie elsewhere
    for (std::size_t at = 0; at < offsets.size(); ++at)
        if (std::abs(offsets[at] - offsets[best]) > 2 * kMatchWindowNs)
            second = std::max(second, counts[at]);
    if (second * 10 >= counts[best] * 9)
        return {};

    ClockMatch match;
    std::vector<std::int64_t> near = offsetsNear(one, other, offsets[best + counts[best] / 2]);
    if (near.empty())
        return {};
    near = offsetsNear(one, other, near[near.size() / 2]);
    if (near.empty())
        return {};
    match.offsetNs = near[near.size() / 2];
    match.matches = static_cast<std::int64_t>(near.size());
    std::vector<std::int64_t> errors;
    for (const std::int64_t offset : near)
        errors.push_back(std::abs(offset - match.offsetNs));
    std::ranges::sort(errors);
    if (errors[errors.size() / 2] > kMostMedianErrorNs)
        return {};
    match.errorNs = errors[(errors.size() - 1) * 95 / 100];
    const auto [first, last] = std::ranges::minmax(other, {}, &ClockMark::timeNs);
    match.among = std::ranges::count_if(one, [&](const ClockMark& mark) {
        const std::int64_t timeNs = mark.timeNs - match.offsetNs;
        return timeNs >= first.timeNs - errors.back() && timeNs <= last.timeNs + errors.back();
    });
    return match.matches >= kFewestMatches && match.matches * 2 >= match.among ? std::optional(match)
                                                                               : std::nullopt;
}

} // namespace strata::model
