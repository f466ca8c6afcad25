// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/segment_lives.h"

#include "model/trace/pairing/segment_index.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace strata::model {

/// Lives that had ended when the batch was made.
struct SegmentLives::Batch {
    Batch(const Rows& lives, std::vector<std::uint32_t> byAddress)
        : rows(std::move(byAddress))
        , index(lives, rows)
    {
    }

    std::vector<std::uint32_t> rows;
    SegmentIndex index;
};

bool isBefore(const SegmentLife& a, const SegmentLife& b)
{
    const auto birth = [](const SegmentLife& s) { return s.alloc.valid() ? s.alloc.value + 1ll : 0; };
    return std::tuple(a.address, birth(a), a.free.value) < std::tuple(b.address, birth(b), b.free.value);
}

const std::shared_ptr<const std::vector<std::uint32_t>>& SegmentLives::noRows()
{
    static const auto none = std::make_shared<const std::vector<std::uint32_t>>();
    return none;
}

std::uint32_t SegmentLives::add(const SegmentLife& life)
{
    m_rows.push_back(life);
    const auto row = static_cast<std::uint32_t>(m_rows.size() - 1);
    if (life.free.valid())
        end(row);
    return row;
}

void SegmentLives::index(std::vector<std::uint32_t> live)
{
    m_live = std::make_shared<const std::vector<std::uint32_t>>(std::move(live));
    std::vector<std::uint32_t> rows;
    for (; m_indexed < m_ended.size(); ++m_indexed)
        rows.push_back(m_ended[m_indexed]);
    if (rows.empty())
        return;
    while (!m_batches.empty() && m_batches.back()->rows.size() < 2 * rows.size()) {
        rows.insert(rows.end(), m_batches.back()->rows.begin(), m_batches.back()->rows.end());
        m_batches.pop_back();
    }
    std::ranges::sort(
        rows, [this](std::uint32_t a, std::uint32_t b) { return isBefore(m_rows[a], m_rows[b]); });
    m_batches.push_back(std::make_shared<const Batch>(m_rows, std::move(rows)));
}

const SegmentLife* SegmentLives::find(std::uint64_t address, EventIndex at) const
{
    const SegmentLife* found = nullptr;
    const auto above
        = std::ranges::upper_bound(*m_live, address, {}, [this](auto row) { return m_rows[row].address; });
    if (above != m_live->begin())
        if (const SegmentLife& life = m_rows[*std::prev(above)]; life.end() > address && life.liveAt(at))
            found = &life;
    for (const auto& batch : m_batches)
        if (const auto row = batch->index.find(m_rows, address, at))
            if (const SegmentLife& life = m_rows[*row]; found == nullptr || isBefore(*found, life))
                found = &life;
    return found;
}

std::vector<const SegmentLife*> SegmentLives::byAddress() const
{
    std::vector<const SegmentLife*> lives;
    lives.reserve(m_rows.size());
    for (const SegmentLife& life : m_rows)
        lives.push_back(&life);
    std::ranges::sort(lives, [](const SegmentLife* a, const SegmentLife* b) { return isBefore(*a, *b); });
    return lives;
}

std::size_t SegmentLives::bytesResident() const
{
    std::size_t bytes
        = m_rows.bytesResident() + m_ended.bytesResident() + m_live->capacity() * sizeof(std::uint32_t);
    for (const auto& batch : m_batches)
        bytes += batch->rows.capacity() * sizeof(std::uint32_t) + batch->index.bytesResident();
    return bytes;
}

} // namespace strata::model
