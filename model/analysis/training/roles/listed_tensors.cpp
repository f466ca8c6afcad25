// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/listed_tensors.h"

#include "model/analysis/training/roles/tensor_placing.h"

#include <algorithm>

namespace strata::model {

namespace {

using ListedRows = RoleListings::Rows;
using Placed = ListedTensors::Placed;

constexpr EventIndex kListedEventsPerLook = 1 << 18; // events from one look at the token to the next

bool isSorted(const ListedRows& rows, std::size_t first)
{
    for (std::size_t row = first + 1; row < rows.size(); ++row)
        if (rows[row].event < rows[row - 1].event)
            return false;
    return true;
}

/// Rows in the order of their events: as they were told, unless a file is damaged.
std::vector<std::uint32_t> inOrder(const ListedRows& rows, std::size_t first)
{
    std::vector<std::uint32_t> order;
    for (std::size_t row = first; row < rows.size(); ++row)
        order.push_back(static_cast<std::uint32_t>(row));
    if (!isSorted(rows, first))
        std::ranges::stable_sort(order, {}, [&](std::uint32_t row) { return rows[row].event; });
    return order;
}

/// `placed` by block, with what was placed before: first what was found first, one row for each tensor and
/// block.
void sortBehind(const std::vector<Placed>& before, std::vector<Placed>& placed)
{
    std::ranges::stable_sort(placed, {}, &Placed::block);
    if (!before.empty()) {
        std::vector<Placed> all;
        all.reserve(before.size() + placed.size());
        std::ranges::merge(before, placed, std::back_inserter(all), {}, &Placed::block, &Placed::block);
        placed = std::move(all);
    }
    placed.erase(std::unique(placed.begin(), placed.end()), placed.end());
}

/// Blocks never share an address: which of them are followed from when on says nothing of what lies where.
bool isSound(const DeviceTrace& trace)
{
    return trace.totals().allocOverLive == 0
        && std::ranges::none_of(
            trace.findings(), [](const Finding& finding) { return finding.check == Check::AllocOverlaps; });
}

} // namespace

const ListedRows ListedTensors::kNone;

/// What was told of up to a moment that may be gone on from.
struct ListedTensors::Known {
    TensorPlacing placing;
    std::size_t rows = 0; // that were taken
    std::size_t older = 0; // blocks
    bool apart = false; // what was placed by then is not what is published
    std::vector<Placed> placed; // if so: sorted
};

bool ListedTensors::mayGoOnFrom(const DeviceTrace& trace, const EarlierTensors& earlier) const
{
    const Known* const known = earlier.listed->m_known.get();
    return known != nullptr && trace.keepsRowsOf(*earlier.trace) && isSound(trace)
        && trace.blocks().olderCount() == known->older && m_rows->size() >= known->rows
        && isSorted(*m_rows, known->rows)
        && (m_rows->size() == known->rows || (*m_rows)[known->rows].event >= known->placing.event());
}

Result<ListedTensors> ListedTensors::of(
    const DeviceTrace& trace, const Progress& progress, const EarlierTensors& earlier)
{
    ListedTensors listed;
    listed.m_rows = &RoleListings::of(trace.recording(), trace.device());
    const ListedRows& rows = *listed.m_rows;
    if (rows.empty())
        return listed;
    auto known = std::make_shared<Known>();
    known->older = trace.blocks().olderCount();
    const std::vector<Placed>* before = &known->placed;
    if (earlier.listed != nullptr && listed.mayGoOnFrom(trace, earlier)) {
        const Known& was = *earlier.listed->m_known;
        known->placing = was.placing;
        known->rows = was.rows;
        listed.m_begun = was.placing.event();
        before = was.apart ? &was.placed : &earlier.listed->m_placed;
    }
    const std::size_t first = known->rows;
    const std::vector<std::uint32_t> order = inOrder(rows, first);
    TensorPlacing* placing = &known->placing;
    placing->prepare(trace, rows, first);
    const auto passTo = [&](EventIndex event) {
        while (placing->event() < event && !progress.cancelled())
            placing->passTo(trace, std::min(event, placing->event() + kListedEventsPerLook));
        return placing->event() >= event;
    };
    const auto cancelled = [] { return fail(Error::Kind::Cancelled, say("cancelled")); };
    std::size_t next = 0;
    for (; next < order.size() && rows[order[next]].event <= trace.eventCount(); ++next) {
        if (!passTo(rows[order[next]].event))
            return cancelled();
        placing->take(trace, rows, order[next], listed.m_placed);
    }
    known->rows = first + next;
    TensorPlacing ahead;
    if (next < order.size()) { // of events that are not there yet
        sortBehind(*before, listed.m_placed);
        known->apart = true;
        known->placed = std::move(listed.m_placed);
        before = &known->placed;
        listed.m_placed.clear();
        ahead = known->placing;
        placing = &ahead;
        if (!passTo(trace.eventCount()))
            return cancelled();
        for (; next < order.size(); ++next)
            placing->take(trace, rows, order[next], listed.m_placed);
    }
    sortBehind(*before, listed.m_placed);
    listed.m_kinds = placing->kinds();
    listed.m_lastStepped = placing->lastStepped();
    if (isSorted(rows, 0))
        listed.m_known = std::move(known);
    return listed;
}

std::span<const ListedTensors::Placed> ListedTensors::in(BlockId block) const
{
    const auto found = std::ranges::equal_range(m_placed, block, {}, &Placed::block);
    return { found.begin(), found.end() };
}

std::size_t ListedTensors::bytesResident() const
{
    return m_placed.capacity() * sizeof(Placed)
        + (m_known ? m_known->placed.capacity() * sizeof(Placed) + m_known->placing.bytesResident() : 0);
}

} // namespace strata::model
