// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/replay_data.h"

#include "views/models/document/device_data.h"
#include "views/models/document/shown_instant.h"

#include <utility>

namespace strata::views {

void replayDevice(const DeviceData& device, const JobContext& context,
    const std::function<void(std::shared_ptr<const ReplayData>)>& publish)
{
    const model::DeviceTrace& trace = *device.trace;
    const model::Progress progress = context.forModel();
    ReplayData data;
    auto report = model::checkReplay(trace, {}, progress);
    if (!report) {
        if (report.error().kind == model::Error::Kind::Cancelled)
            return;
        data.refusal = report.error();
        data.complete = true;
        return publish(std::make_shared<const ReplayData>(std::move(data)));
    }
    data.report = std::make_shared<const model::ReplayReport>(std::move(*report));
    if (data.report->exact()) {
        // The curves read the sizes of the report: both go together.
        struct Kept {
            std::shared_ptr<const model::ReplayReport> report;
            model::RoundedCurves curves;
        };
        auto kept = std::make_shared<const Kept>(
            Kept{ data.report, model::RoundedCurves(trace, data.report->check.rounding) });
        data.rounded = std::shared_ptr<const model::RoundedCurves>(kept, &kept->curves);
        data.summary = std::make_shared<const model::DeviceSummary>(
            model::withRoundedSizes(*device.summary, trace, *data.rounded, *device.byLine));
    }
    data.thrash = std::make_shared<const model::Thrash>(model::thrashOf(trace, *data.report));
    publish(std::make_shared<const ReplayData>(data));

    if (const auto failed = lastOutOfMemory(device)) {
        const model::AllocatorMap map = model::allocatorMapAt(
            trace, *failed, device.timeline->live().liveAtUnordered(*failed), data.report.get());
        auto explained = model::explainOom(trace, device.timeline->clock(), map, *data.report, progress);
        if (!explained)
            return;
        data.explained = std::make_shared<const model::OomExplained>(std::move(*explained));
        publish(std::make_shared<const ReplayData>(data));
    }
    auto tried = model::trySettings(trace, *data.report, progress);
    if (!tried)
        return;
    if (auto sharing = model::trySharing(trace, *data.report, progress))
        data.sharing = *sharing;
    else
        return;
    data.settings = std::make_shared<const std::vector<model::SettingTried>>(std::move(*tried));
    data.complete = true;
    publish(std::make_shared<const ReplayData>(std::move(data)));
}

} // namespace strata::views
