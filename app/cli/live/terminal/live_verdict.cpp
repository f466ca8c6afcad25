// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/live_verdict.h"

#include "app/cli/open.h"
#include "app/cli/text.h"
#include "model/analysis/summary/summary.h"
#include "model/analysis/summary/verdict.h"
#include "model/base/words.h"

#include <algorithm>
#include <span>

namespace strata::cli {

using model::DeviceTrace;
using model::EventIndex;

void LiveVerdict::addTo(Picture& picture, const Shown& shown, bool isOver)
{
    const model::DeviceTrace* const own = &shown.timeline->trace();
    const DeviceTrace* judged = nullptr;
    for (const DeviceTrace& device : shown.session->devices()) {
        if (device.outOfMemories().empty())
            continue;
        const auto lastOf = [](const DeviceTrace& of) {
            return model::timeOf(of, of.outOfMemories()[of.outOfMemories().size() - 1]).value_or(0);
        };
        if (!judged || lastOf(device) > lastOf(*judged))
            judged = &device;
    }
    const bool isBad = judged != nullptr;
    if (!judged && isOver)
        judged = own;
    if (!judged) {
        m_verdict = {};
        return;
    }
    const auto count = static_cast<std::int64_t>(judged->outOfMemories().size());
    const bool isSame = m_verdict.session && m_verdict.device == judged->device()
        && m_verdict.outOfMemories == count && (m_verdict.session == shown.session || (isBad && !isOver));
    if (!isSame) {
        const bool isShown = judged == own;
        const auto timeline = isShown ? shown.timeline : model::DeviceTimeline::of(*judged, nullptr);
        const model::GroupTable made(*judged, model::Grouping::Line);
        const model::GroupTable& byLine = isShown ? shown.byLine() : made;
        const model::DeviceSummary summary = model::summarize(*timeline, byLine);
        m_verdict = { shown.session, count, judged->device(), isBad ? summary.outOfMemory.back().event : -1,
            isShown ? std::string() : deviceName(judged->device()) + ": ", isBad };
        // Why comes behind what happened, before the figures.
        const std::span<const model::Sentence> sentences(summary.verdict);
        const std::size_t first = std::min<std::size_t>(sentences.size(), 1);
        m_verdict.text += model::plainText(model::piecesOf(sentences.first(first)));
        if (isBad && m_cause.device == m_verdict.device && m_cause.event == m_verdict.event
            && !m_cause.sentence.empty())
            m_verdict.text += " Why: " + m_cause.sentence + ".";
        if (first < sentences.size())
            m_verdict.text += " " + model::plainText(model::piecesOf(sentences.subspan(first)));
    }
    picture.verdict = printable(m_verdict.text);
    picture.verdictIsBad = m_verdict.isBad;
}

std::optional<LiveVerdict::Place> LiveVerdict::toJudge() const
{
    if (!m_verdict.session || m_verdict.event < 0
        || (m_cause.device == m_verdict.device && m_cause.event == m_verdict.event))
        return std::nullopt;
    return Place{ m_verdict.session, m_verdict.device };
}

void LiveVerdict::setCause(int device, EventIndex event, std::string sentence)
{
    m_cause = { device, event, std::move(sentence) };
    m_verdict.session = nullptr; // made anew
}

} // namespace strata::cli
