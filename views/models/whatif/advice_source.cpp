// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/whatif/advice_source.h"

#include "views/models/whatif/what_if_question.h"

#include <utility>

namespace strata::views {

namespace {

bool tellsOfSegments(const DeviceData& device)
{
    const model::DeviceRecording* const found = device.trace->recording().find(device.trace->device());
    return found == nullptr || !found->profiled;
}

} // namespace

AdviceSource::AdviceSource(Document& document, QObject* parent)
    : QObject(parent)
    , m_document(document)
{
}

void AdviceSource::refresh()
{
    const auto device = m_document.device();
    WhatIfRun run;
    if (device && device->summary && !m_document.isFollowing() && model::isWorthAdvice(*device->summary)
        && tellsOfSegments(*device))
        run = WhatIfRun::of(*device);
    Asked asked{ run.report, run.categories };
    if (!asked.report || !asked.categories)
        asked = {};
    if (asked == m_asked)
        return;
    m_asked = asked;
    m_job.cancel();
    if (!std::exchange(m_advice, {}).empty())
        Q_EMIT changed();
    if (!asked.report)
        return;
    m_job.start(
        [run](const JobContext& context) mutable {
            run.tell(context.forModel());
            auto advice = model::adviceOn(run.recorded(run.toldItems), context.forModel());
            return advice ? std::move(*advice) : std::vector<model::Advice>();
        },
        [this](std::vector<model::Advice> advice) {
            m_advice = std::move(advice);
            Q_EMIT changed();
        });
}

} // namespace strata::views
