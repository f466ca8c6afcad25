// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/parts/filter_text.h"

#include "model/trace/filter/filter_language.h"
#include "views/models/document/group_colours.h"
#include "views/style/texts.h"

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
QString fileNameOf(const QString& label)
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
        ? FilterText::tr("site: %1").arg(text::utf8(model::frameShortLabel(recording, frame)))
        : FilterText::tr("site: no stack recorded");
}

template <class Change> model::BlockFilter changed(const model::BlockFilter& filter, const Change& change)
{
    model::BlockFilter copy = filter;
    change(copy);
    return copy;
}

/// What `conditions` say that `others` do not.
model::FilterConditions without(model::FilterConditions conditions, const model::FilterConditions& others)
{
    if (!others.text.empty())
        conditions.text.clear();
    if (others.line)
        conditions.line.reset();
    if (others.category)
        conditions.category.reset();
    if (others.module)
        conditions.module.reset();
    if (!others.stacks.empty())
        conditions.stacks.clear();
    if (others.stream)
        conditions.stream.reset();
    if (others.pool)
        conditions.pool.reset();
    if (others.minBytes > 0 || others.maxBytes != kAnySize) {
        conditions.minBytes = 0;
        conditions.maxBytes = kAnySize;
    }
    return conditions;
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

QString filterOption(const model::BlockFilter& filter, const model::Recording& recording)
{
    if (filter.empty())
        return {};
    return QStringLiteral(" --filter ")
        + text::shellQuoted(QString::fromStdString(model::printFilter(recording, filter)));
}

std::vector<FilterChip> filterChips(const model::BlockFilter& filter, const model::Recording& recording)
{
    std::vector<FilterChip> chips;
    if (filter.line)
        chips.push_back({ FilterText::tr("line: %1").arg(fileNameOf(text::utf8(*filter.line))),
            text::utf8(*filter.line), changed(filter, [](auto& f) { f.line.reset(); }) });
    if (filter.category)
        chips.push_back(
            { FilterText::tr("category: %1").arg(groupName(model::Grouping::Category, *filter.category)),
                FilterText::tr("Only blocks that are for this"),
                changed(filter, [](auto& f) { f.category.reset(); }) });
    if (filter.module)
        chips.push_back({ FilterText::tr("module: %1").arg(text::utf8(*filter.module)),
            FilterText::tr("Only blocks of this module"),
            changed(filter, [](auto& f) { f.module.reset(); }) });
    if (!filter.sites.empty())
        chips.push_back({ siteText(filter, recording), FilterText::tr("Only blocks allocated by this stack"),
            changed(filter, [](auto& f) { f.sites.clear(); }) });
    if (filter.stream)
        chips.push_back({ *filter.stream < recording.streams.size()
                ? FilterText::tr("stream: %1").arg(text::stream(recording, *filter.stream))
                : FilterText::tr("no stream"),
            FilterText::tr("Only blocks of this stream"),
            changed(filter, [](auto& f) { f.stream.reset(); }) });
    if (filter.pool)
        chips.push_back(
            { FilterText::tr("pool: %1").arg(text::utf8(model::poolLabel(recording, *filter.pool))),
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
        chips.push_back({ FilterText::tr("contains: %1").arg(text::utf8(filter.text)),
            FilterText::tr("Only blocks with this text or address in their stack or range"),
            changed(filter, [](auto& f) { f.text.clear(); }) });
    // As they are typed: each is the whole filter but for what its chip leaves.
    const model::FilterConditions all = model::conditionsOf(recording, filter);
    for (FilterChip& chip : chips)
        chip.toolTip += QLatin1Char('\n')
            + text::utf8(model::printFilter(without(all, model::conditionsOf(recording, chip.without))));
    return chips;
}

std::optional<model::BlockFilter> filterBy(
    const model::BlockFilter& filter, const DeviceData& device, const Focus& focus, model::Grouping grouping)
{
    const model::BlockId block = blockOf(device, focus);
    model::BlockFilter next = filter;
    if (block.valid()) {
        const model::GroupingInfo& info = model::infoOf(grouping);
        if (info.narrowToBlock)
            info.narrowToBlock(next, *device.trace, block);
        else if (const auto groups = device.groups(grouping))
            info.narrowToGroup(next, *device.trace, *groups, groups->groupOf(block));
        else
            return std::nullopt;
        return next;
    }
    if (focus.kind != Focus::Kind::Group)
        return std::nullopt;
    const auto table = device.groups(focus.grouping);
    const auto group = table ? table->find(focus.group) : std::nullopt;
    if (!group)
        return std::nullopt;
    model::infoOf(focus.grouping).narrowToGroup(next, *device.trace, *table, *group);
    return next;
}

} // namespace strata::views
