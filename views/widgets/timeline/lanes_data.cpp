// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_data.h"

#include "model/analysis/work/session_work.h"
#include "views/widgets/timeline/lane_words.h"

#include <algorithm>
#include <array>

namespace strata::views {

std::shared_ptr<const LanesData> LanesData::of(std::shared_ptr<const model::Session> session)
{
    auto work = model::workOf(session);
    if (!work)
        return nullptr;
    return std::shared_ptr<const LanesData>(new LanesData(std::move(session), std::move(work)));
}

LanesData::LanesData(std::shared_ptr<const model::Session> session, std::shared_ptr<const model::Work> work)
    : m_session(std::move(session))
    , m_holder(std::move(work))
    , m_work(*m_holder)
    , m_tracks(m_work)
    , m_marks(model::allocatorMarksOf(std::array{ model::AllocatorSource{ m_session.get(), 0 } }),
          m_tracks.startNs())
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

} // namespace strata::views
