// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/table_rows.h"

#include <algorithm>
#include <array>

namespace strata::views {

TableRows TableRows::all(std::uint32_t count, TableSums sums)
{
    TableRows result;
    result.m_count = count;
    result.m_sums = sums;
    return result;
}

TableRows TableRows::of(std::vector<std::uint32_t> rows, bool ordered, TableSums sums)
{
    TableRows result;
    result.m_count = static_cast<std::uint32_t>(rows.size());
    result.m_rows = std::move(rows);
    result.m_ordered = ordered;
    result.m_sums = sums;
    return result;
}

std::optional<std::uint32_t> TableRows::positionOf(std::uint32_t row) const
{
    if (m_rows.empty())
        return row < m_count ? std::optional(row) : std::nullopt;
    const auto found = m_ordered ? std::lower_bound(m_rows.begin(), m_rows.end(), row)
                                 : std::find(m_rows.begin(), m_rows.end(), row);
    if (found == m_rows.end() || *found != row)
        return std::nullopt;
    return static_cast<std::uint32_t>(found - m_rows.begin());
}

std::optional<std::uint32_t> TableRows::nearest(std::uint32_t row) const
{
    if (m_count == 0)
        return std::nullopt;
    if (m_rows.empty())
        return std::min(row, m_count - 1);
    if (!m_ordered)
        return positionOf(row);
    const auto after = std::upper_bound(m_rows.begin(), m_rows.end(), row);
    return after == m_rows.begin() ? 0 : static_cast<std::uint32_t>(after - m_rows.begin() - 1);
}

void sortByKey(std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& rows, const JobContext& context)
{
    constexpr int kBits = 11;
    constexpr std::uint64_t kMask = (1u << kBits) - 1;
    const std::size_t count = keys.size();
    std::uint64_t all = ~std::uint64_t{ 0 };
    std::uint64_t any = 0;
    for (const std::uint64_t key : keys) {
        all &= key;
        any |= key;
    }
    const std::uint64_t differing = all ^ any;

    std::vector<std::uint64_t> otherKeys;
    std::vector<std::uint32_t> otherRows;
    for (int shift = 0; shift < 64; shift += kBits) {
        if (((differing >> shift) & kMask) == 0)
            continue;
        if (context.cancelled())
            return;
        otherKeys.resize(count);
        otherRows.resize(count);
        std::array<std::size_t, kMask + 1> place{};
        for (const std::uint64_t key : keys)
            ++place[(key >> shift) & kMask];
        std::size_t sum = 0;
        for (std::size_t& slot : place)
            sum += std::exchange(slot, sum);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t to = place[(keys[i] >> shift) & kMask]++;
            otherKeys[to] = keys[i];
            otherRows[to] = rows[i];
        }
        keys.swap(otherKeys);
        rows.swap(otherRows);
        context.progress(0.5 + 0.5 * (shift + kBits) / 66.0);
    }
}

} // namespace strata::views
