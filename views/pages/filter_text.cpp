// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/filter_text.h"

#include "views/pages/texts.h"

#include <QCoreApplication>

#include <algorithm>
#include <limits>

namespace strata::views {

namespace {

struct FilterText {
    Q_DECLARE_TR_FUNCTIONS(FilterText)
};

constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

/// "train.py:57" of "/home/me/train.py:57".
QString lastPart(const QString& label)
{
    const qsizetype slash
        = std::max(label.lastIndexOf(QLatin1Char('/')), label.lastIndexOf(QLatin1Char('\\')));
    return label.mid(slash + 1);
}

QString sizeText(const model::BlockFilter& filter)
{
    if (filter.minBytes == filter.maxBytes)
        return FilterText::tr("size: %1").arg(text::bytes(filter.minBytes));
    if (filter.maxBytes == kAnySize)
        return FilterText::tr("size ≥ %1").arg(text::bytes(filter.minBytes));
    if (filter.minBytes <= 0)
        return FilterText::tr("size ≤ %1").arg(text::bytes(filter.maxBytes));
    const QString low = text::bytes(filter.minBytes), high = text::bytes(filter.maxBytes);
    return low == high ? FilterText::tr("size ≈ %1").arg(low)
                       : FilterText::tr("size: %1 to %2").arg(low, high);
}

QString siteText(const model::BlockFilter& filter, const model::Recording& recording)
{
    if (filter.sites.size() > 1)
        return FilterText::tr("%n site(s)", nullptr, static_cast<int>(filter.sites.size()));
    const model::FrameId frame = model::userFrame(recording, filter.sites.front());
    return frame.valid()
        ? FilterText::tr("site: %1").arg(text::file(model::frameShortLabel(recording, frame)))
        : FilterText::tr("site: no stack recorded");
}

template <class Change> model::BlockFilter changed(const model::BlockFilter& filter, const Change& change)
{
    model::BlockFilter copy = filter;
    change(copy);
    return copy;
}

model::BlockFilter narrowed(model::BlockFilter filter, const model::Recording& recording,
    const model::GroupTable& table, std::uint32_t group)
{
    const std::int64_t value = table.valueOf(group);
    switch (table.grouping()) {
    case model::Grouping::Line:
        if (table.stackOf(group).valid())
            filter.line = table.label(group);
        else
            filter.sites = { model::StackId() };
        break;
    case model::Grouping::Site:
        filter.sites = { table.stackOf(group) };
        break;
    case model::Grouping::Stream: {
        const auto found = std::find(recording.streams.begin(), recording.streams.end(), value);
        filter.stream = found == recording.streams.end()
            ? model::kNoIndex
            : static_cast<model::StreamIndex>(found - recording.streams.begin());
        break;
    }
    case model::Grouping::Pool:
        filter.pool = value < 0 ? model::kNoIndex : static_cast<model::PoolIndex>(value);
        break;
    case model::Grouping::Size:
        filter.minBytes = filter.maxBytes = value;
        break;
    }
    return filter;
}

model::BlockId blockOf(const DeviceData& device, const Focus& focus)
{
    if (focus.kind == Focus::Kind::Block)
        return focus.block;
    if (focus.kind == Focus::Kind::Event && focus.event >= 0)
        return device.trace->events().block[static_cast<std::size_t>(focus.event)];
    return {};
}

} // namespace

std::vector<FilterChip> filterChips(const model::BlockFilter& filter, const model::Recording& recording)
{
    std::vector<FilterChip> chips;
    if (filter.line)
        chips.push_back({ FilterText::tr("line: %1").arg(lastPart(text::file(*filter.line))),
            text::file(*filter.line), changed(filter, [](auto& f) { f.line.reset(); }) });
    if (!filter.sites.empty())
        chips.push_back({ siteText(filter, recording), FilterText::tr("Only blocks allocated by this stack"),
            changed(filter, [](auto& f) { f.sites.clear(); }) });
    if (filter.stream)
        chips.push_back({ *filter.stream < recording.streams.size()
                ? FilterText::tr("stream: %1").arg(recording.streams[*filter.stream])
                : FilterText::tr("no stream"),
            FilterText::tr("Only blocks of this stream"),
            changed(filter, [](auto& f) { f.stream.reset(); }) });
    if (filter.pool)
        chips.push_back(
            { FilterText::tr("pool: %1").arg(text::file(model::poolLabel(recording, *filter.pool))),
                FilterText::tr("Only blocks of this pool"),
                changed(filter, [](auto& f) { f.pool.reset(); }) });
    if (filter.minBytes > 0 || filter.maxBytes != kAnySize) {
        const QString exact = filter.maxBytes == kAnySize
            ? FilterText::tr("%1 and more").arg(text::exactBytes(filter.minBytes))
            : FilterText::tr("%1 to %2")
                  .arg(text::exactBytes(filter.minBytes), text::exactBytes(filter.maxBytes));
        chips.push_back({ sizeText(filter), exact, changed(filter, [](auto& f) {
                             f.minBytes = 0;
                             f.maxBytes = kAnySize;
                         }) });
    }
    if (!filter.text.empty())
        chips.push_back({ FilterText::tr("contains: %1").arg(text::file(filter.text)),
            FilterText::tr("Only blocks with this text or address in their stack or range"),
            changed(filter, [](auto& f) { f.text.clear(); }) });
    return chips;
}

std::optional<model::BlockFilter> filterBy(
    const model::BlockFilter& filter, const DeviceData& device, const Focus& focus, model::Grouping grouping)
{
    std::uint32_t group = focus.group;
    if (focus.kind == Focus::Kind::Group)
        grouping = focus.grouping;
    const model::BlockId block = blockOf(device, focus);
    if (!block.valid() && focus.kind != Focus::Kind::Group)
        return std::nullopt;

    model::BlockFilter next = filter;
    const model::BlockColumns& blocks = device.trace->blocks();
    if (grouping == model::Grouping::Line || grouping == model::Grouping::Site) {
        const model::GroupTable& table = grouping == model::Grouping::Line ? *device.byLine : *device.bySite;
        return narrowed(
            std::move(next), device.trace->recording(), table, block.valid() ? table.groupOf(block) : group);
    }
    if (block.valid()) {
        if (grouping == model::Grouping::Stream)
            next.stream = blocks.stream[block.index()];
        else if (grouping == model::Grouping::Pool)
            next.pool = blocks.pool[block.index()];
        else
            next.minBytes = next.maxBytes = blocks.requestedBytes[block.index()];
        return next;
    }
    const model::GroupTable table(*device.trace, grouping);
    if (group >= table.count())
        return std::nullopt;
    return narrowed(std::move(next), device.trace->recording(), table, group);
}

} // namespace strata::views
