// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_data.h"

#include "model/analysis/work/session_work.h"
#include "views/widgets/timeline/lane_words.h"

#include <algorithm>
#include <vector>

namespace strata::views {

namespace {

/// Of its own allocator, and of that of what was added.
std::vector<model::AllocatorMark> marksOf(const model::Session& session, const AddedMemory* added)
{
    std::vector<model::AllocatorSource> sources{ { &session, 0 } };
    if (added)
        sources.push_back({ added->session.get(), added->join.match.offsetNs });
    return model::allocatorMarksOf(sources);
}

} // namespace

std::shared_ptr<const LanesData> LanesData::of(
    std::shared_ptr<const model::Session> session, std::shared_ptr<const AddedMemory> added)
{
    auto work = added ? added->work : model::workOf(session);
    if (!work)
        return nullptr;
    return std::shared_ptr<const LanesData>(
        new LanesData(std::move(session), std::move(work), std::move(added)));
}

LanesData::LanesData(std::shared_ptr<const model::Session> session, std::shared_ptr<const model::Work> work,
    std::shared_ptr<const AddedMemory> added)
    : m_session(std::move(session))
    , m_added(std::move(added))
    , m_holder(std::move(work))
    , m_work(*m_holder)
    , m_tracks(m_work)
    , m_marks(marksOf(*m_session, m_added.get()), m_tracks.startNs())
    , m_outside(model::outsideMemoryOf(m_session->recording()))
{
    m_looks.reserve(m_work.spans.size());
    for (std::uint32_t place = 0; place < m_work.spans.size(); ++place) {
        const model::WorkSpan& span = m_work.spans[place];
        const auto look = static_cast<unsigned>(views::lookOf(span, strings()[span.name]));
        m_looks.push_back(static_cast<std::uint8_t>(look * 2 + span.name.value % 2));
        if (span.correlation != 0
            && (span.kind == model::WorkKind::Runtime || model::isDeviceWork(span.kind)))
            m_links.emplace_back(span.correlation, place);
    }
    std::ranges::sort(m_links);
    m_tellsShapes = std::ranges::any_of(m_work.operators, [this](const model::OperatorDetail& of) {
        return of.shapes.valid() && !strings()[of.shapes].empty();
    });
}

bool LanesData::tellsRequested(const model::WorkMemory& memory) const
{
    if (m_work.ownRecording)
        return true;
    const model::DeviceTrace* const added = m_added ? m_added->session->find(memory.device) : nullptr;
    return added != nullptr && added->events().hasTimes();
}

std::int64_t LanesData::launchedBy(std::uint32_t span) const
{
    const model::WorkSpan& call = m_work.spans[span];
    if (call.correlation == 0 || call.kind != model::WorkKind::Runtime)
        return 0;
    const auto same = std::ranges::equal_range(
        m_links, call.correlation, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
    return std::ranges::count_if(
        same, [&](const auto& link) { return model::isDeviceWork(m_work.spans[link.second].kind); });
}

std::optional<std::uint32_t> LanesData::partnerOf(std::uint32_t span) const
{
    const model::WorkSpan& piece = m_work.spans[span];
    const bool isWork = model::isDeviceWork(piece.kind);
    if (piece.correlation == 0 || (!isWork && piece.kind != model::WorkKind::Runtime))
        return std::nullopt;
    for (auto at = std::ranges::lower_bound(m_links, std::pair(piece.correlation, 0U));
         at != m_links.end() && at->first == piece.correlation; ++at)
        if (model::isDeviceWork(m_work.spans[at->second].kind) != isWork)
            return at->second;
    return std::nullopt;
}

WorkFigures WorkFigures::of(
    std::shared_ptr<const LanesData> lanes, std::optional<model::TimeSpan> range, model::OperatorsBy by)
{
    WorkFigures figures{ lanes, by, model::workReportOf(lanes->work(), lanes->strings(), range, by), {} };
    if (const auto& added = lanes->added()) {
        const model::TimeSpan shown = range.value_or(added->traceTime);
        figures.peaks = model::joinedPeaks(*added->session, added->join, shown.beginNs, shown.endNs);
    }
    return figures;
}

} // namespace strata::views
