// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/device_data.h"

#include "views/models/document/group_colours.h"
#include "views/style/palette.h"

#include <QThreadPool>

#include <limits>
#include <string_view>
#include <utility>

namespace strata::views {

namespace {

/// Whoever lets go of it last need not wait until gigabytes of columns are given back.
std::shared_ptr<const DeviceData> shared(DeviceData data)
{
    return { new DeviceData(std::move(data)), [](const DeviceData* last) {
                if (QThreadPool* const pool = QThreadPool::globalInstance())
                    pool->start([last] { delete last; });
                else // the program ends
                    delete last;
            } };
}

} // namespace

std::vector<int> fixedColoursOf(const model::GroupTable& groups)
{
    std::vector<int> byGroup(groups.count(), std::numeric_limits<int>::max());
    for (std::uint32_t group = 0; group < groups.count(); ++group)
        if (groups.grouping() == model::Grouping::Category)
            byGroup[group] = Palette::ofCategory(static_cast<int>(
                model::categoryFromWord(groups.label(group)).value_or(model::Category::Unknown)));
        else if (namesNothing(groups, group))
            byGroup[group] = Palette::kHatched;
    return byGroup;
}

std::vector<int> coloursOf(DocumentColours& colours, int device, const model::GroupTable& groups,
    const std::vector<std::uint32_t>& largestFirst)
{
    std::vector<int> byGroup = fixedColoursOf(groups);
    if (groups.grouping() == model::Grouping::Category)
        return byGroup;
    std::vector<std::string_view> names;
    names.reserve(largestFirst.size());
    for (const std::uint32_t group : largestFirst)
        names.emplace_back(groups.label(group));
    const std::vector<int> byPlace = colours.assign(model::infoOf(groups.grouping()).name, device, names);
    for (std::size_t place = 0; place < largestFirst.size(); ++place)
        byGroup[largestFirst[place]] = byPlace[place];
    return byGroup;
}

std::shared_ptr<const model::GroupTable> DeviceData::groups(model::Grouping grouping) const
{
    for (const auto& known : { byLine, bySite })
        if (known && known->grouping() == grouping)
            return known;
    if (!model::infoOf(grouping).ofLabels)
        return std::make_shared<model::GroupTable>(*trace, grouping);
    auto told = !training || !training->knowsBlocksOf(*this) ? nullptr
        : grouping == model::Grouping::Category              ? training->byCategory
                                                             : training->byModule;
    return !told || training->isOf(*this) ? told : std::make_shared<model::GroupTable>(*trace, *told);
}

model::DeviceLabels DeviceData::labels() const
{
    if (!training || !training->byCategory || !training->byModule || !training->knowsBlocksOf(*this))
        return {};
    return { training->byCategory->labels(), training->byModule->labels() };
}

model::RoundedSizes DeviceData::sizes() const
{
    return model::RoundedSizes(*trace, replay && replay->exact() ? &replay->report->check.rounding : nullptr);
}

void deriveDevice(const DeviceTask& task, const std::stop_token& stop,
    const std::function<void(std::shared_ptr<const DeviceData>)>& publish)
{
    const model::DeviceTrace& trace = *task.trace;
    const DeviceData* const earlier = task.earlier.get();
    const bool keepsRows = earlier && trace.keepsRowsOf(*earlier->trace);
    DeviceData data;
    data.colours = task.colours;
    data.session = task.session;
    data.trace = &trace;
    data.source = task.source;
    data.timeline = model::DeviceTimeline::of(trace, earlier ? earlier->timeline.get() : nullptr);
    if (stop.stop_requested())
        return;
    const auto groups
        = [&](model::Grouping grouping, const std::shared_ptr<const model::GroupTable>& before) {
              return keepsRows ? std::make_shared<const model::GroupTable>(trace, *before)
                               : std::make_shared<const model::GroupTable>(trace, grouping);
          };
    data.byLine = groups(model::Grouping::Line, earlier ? earlier->byLine : nullptr);
    data.bySite = groups(model::Grouping::Site, earlier ? earlier->bySite : nullptr);
    data.summary = std::make_shared<model::DeviceSummary>(model::summarize(*data.timeline, *data.byLine));
    if (stop.stop_requested())
        return;
    data.lineOrder = keepsRows
        ? std::make_shared<const model::LayerOrder>(
            trace, data.timeline->live(), *data.byLine, *earlier->lineOrder)
        : std::make_shared<const model::LayerOrder>(trace, data.timeline->live(), *data.byLine);
    data.lineRank = coloursOf(*task.colours, trace.device(), *data.byLine,
        largestFirst(data.summary->peak, *data.byLine, data.lineOrder->groups()));
    data.annotations = std::make_shared<const std::vector<model::AnnotationSpan>>(
        model::annotationSpans(trace.recording(), trace.device(), data.timeline->clock()));
    data.driver
        = std::make_shared<const model::DriverCurve>(model::driverCurveOf(trace.recording(), trace.device()));
    if (!earlier)
        publish(shared(data));
    if (stop.stop_requested())
        return;
    data.strips = keepsRows ? model::StripLayout::of(trace, *earlier->trace, earlier->strips)
                            : std::make_shared<const model::StripLayout>(trace);
    auto index = keepsRows && data.strips == earlier->strips
        ? std::make_shared<const model::BlocksIndex>(
            *data.timeline, *data.strips, *data.byLine, *earlier->blocksIndex, stop)
        : std::make_shared<const model::BlocksIndex>(*data.timeline, *data.strips, *data.byLine, stop);
    if (stop.stop_requested())
        return;
    data.blocksIndex = std::move(index);
    publish(shared(std::move(data)));
}

} // namespace strata::views
