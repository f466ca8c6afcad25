// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/details/details.h"

#include "model/analysis/summary/groups.h"
#include "views/models/document/group_colours.h"
#include "views/pages/parts/document_texts.h"

#include <QCoreApplication>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Details)
};

template <class Ids> std::vector<DetailsFrame> framesOf(const model::Recording& recording, const Ids& ids)
{
    std::vector<DetailsFrame> frames;
    for (const model::FrameId id : ids) {
        const model::Frame& frame = recording.stacks.frame(id);
        const std::string_view file = recording.strings[frame.file];
        frames.push_back({ text::utf8(model::frameShortLabel(recording, id)),
            text::utf8(recording.strings[frame.function]), text::utf8(file), frame.line,
            model::isProgramFrame(recording, id) });
    }
    return frames;
}

/// "by train.py:57", empty without a stack.
QString byWhom(const model::Recording& recording, model::StackId stack)
{
    const model::FrameId frame = model::userFrame(recording, stack);
    return frame.valid() ? text::utf8(model::frameShortLabel(recording, frame)) : QString();
}

class Builder {
public:
    explicit Builder(const DeviceData& device)
        : m_device(device)
        , m_trace(*device.trace)
        , m_recording(device.trace->recording())
    {
    }

    Details block(model::BlockId id) const
    {
        const model::BlockColumns& blocks = m_trace.blocks();
        if (!blocks.contains(id))
            return {};
        Details d;
        d.kind = Words::tr("Block");
        d.title = titled(text::bytes(blocks.requestedBytes[id]), blocks.stack[id]);
        d.size.push_back(sizeRow(Words::tr("requested"), blocks.requestedBytes[id]));
        if (const auto rounded = m_device.sizes().bytes(id))
            d.size.push_back(sizeRow(Words::tr("allocated"), *rounded));
        addFrames(d, blocks.stack[id]);

        const model::EventId born = blocks.allocOf(id), asked = blocks.freeRequested[id],
                             died = blocks.freeCompleted[id];
        d.life.push_back(born.valid()
                ? eventRow(Words::tr("allocated"), born.value)
                : DetailsRow{ Words::tr("allocated"), Words::tr("before the trace"), {}, {} });
        if (asked.valid() && asked != died)
            d.life.push_back(eventRow(Words::tr("free asked"), asked.value));
        d.life.push_back(died.valid() ? eventRow(Words::tr("freed"), died.value)
                                      : DetailsRow{ Words::tr("freed"),
                                          asked.valid() ? Words::tr("waits for another stream at the end")
                                                        : Words::tr("live at the end"),
                                          {}, {} });
        if (born.valid() && died.valid())
            d.life.push_back(lifetimeRow(born.value, died.value));

        addPurpose(d, id);
        d.place.push_back({ Words::tr("address"), text::address(blocks.address[id]), {}, {} });
        addPoolAndStream(d, blocks.pool[id], blocks.stream[id]);
        const model::EventIndex birth = blocks.birth(id);
        if (const model::SegmentLife* segment = m_trace.segmentAt(blocks.address[id], birth))
            d.place.push_back(
                { Words::tr("segment"), text::address(segment->address), text::bytes(segment->bytes), {} });
        if (born.valid())
            addRecorded(d, born.value);
        return d;
    }

    Details event(model::EventIndex e) const
    {
        if (e < 0 || e >= m_trace.eventCount())
            return {};
        const model::EventColumns& events = m_trace.events();
        const auto i = static_cast<std::size_t>(e);
        const model::Action action = events.action[i];
        Details d;
        d.kind = Words::tr("Event %1").arg(text::count(e));
        const QString name = action == model::Action::Other
            ? text::utf8(m_recording.strings[events.otherAction.at(e)])
            : text::utf8(model::actionName(action));
        d.title = titled(name, events.stack[i]);
        if (action != model::Action::Annotate && action != model::Action::UserDefined)
            d.size.push_back(sizeRow(
                action == model::Action::Oom ? Words::tr("asked for") : Words::tr("size"), events.bytes[i]));
        if (action == model::Action::Oom)
            d.size.push_back(sizeRow(Words::tr("driver free"), static_cast<std::int64_t>(events.address[i])));
        d.size.push_back(sizeRow(Words::tr("requested after"), m_device.timeline->requested().at(e)));
        if (const model::RoundedCurves* const rounded = m_device.rounded()) {
            d.size.push_back(sizeRow(Words::tr("allocated after"), rounded->allocated.at(e)));
            if (const std::int64_t active = rounded->active.at(e); active != rounded->allocated.at(e))
                d.size.push_back(sizeRow(Words::tr("active after"), active));
        }
        d.size.push_back(sizeRow(Words::tr("reserved after"), m_device.timeline->reserved().at(e)));
        addFrames(d, events.stack[i]);
        d.frameHeading = Words::tr("Stack");
        d.life.push_back(eventRow(Words::tr("happened"), static_cast<std::uint32_t>(e)));
        if (events.address[i] != 0 && action != model::Action::Oom)
            d.place.push_back({ Words::tr("address"), text::address(events.address[i]), {}, {} });
        addPoolAndStream(d, model::poolOfEvent(m_trace, e), events.stream[i]);
        addRecorded(d, static_cast<std::uint32_t>(e));
        return d;
    }

    Details group(model::Grouping grouping, const model::GroupKey& key, model::EventIndex at) const
    {
        const auto table = m_device.groups(grouping);
        const auto number = table ? table->find(key) : std::nullopt;
        return number ? group(*table, *number, at) : Details();
    }

    Details frame(const FrameFocus& frame, model::EventIndex at) const
    {
        Details d;
        d.kind = Words::tr("Frame");
        d.title = frame.title;
        if (!frame.countsBlocks) {
            d.size.push_back(sizeRow(Words::tr("with callees"), frame.total));
            d.size.push_back(sizeRow(Words::tr("by itself"), frame.self));
        }
        d.size.push_back({ Words::tr("share"), text::share(frame.total, frame.whole), {}, {} });
        d.size.push_back({ Words::tr("blocks"), text::count(frame.blocks), {}, {} });
        d.frames = framesOf(m_recording, frame.frames);
        if (!d.frames.empty())
            d.frameHeading = Words::tr("Called by");
        if (at >= 0)
            d.life.push_back({ Words::tr("counted"), text::instant(m_device, at), {}, at });
        return d;
    }

private:
    Details group(const model::GroupTable& table, std::uint32_t number, model::EventIndex at) const
    {
        const model::GroupingInfo& info = model::infoOf(table.grouping());
        Details d;
        d.kind = text::said(info.one);
        const model::StackId stack = table.stackOf(number);
        d.title = info.key == model::GroupingInfo::Key::Stack && stack.valid() ? byWhom(m_recording, stack)
                                                                               : groupName(table, number);
        if (const QString whom = byWhom(m_recording, stack); whom != d.title && d.title.endsWith(whom))
            d.shortTitle = whom;
        const model::LiveGroups live = model::groupsAt(*m_device.timeline, table, at);
        model::GroupSum sum{ number, 0, 0 };
        for (const model::GroupSum& candidate : live.groups)
            if (candidate.group == number)
                sum = candidate;
        d.size.push_back(sizeRow(Words::tr("requested"), sum.bytes));
        // Whatever filter there is: tables under one say shares of what it lets through.
        d.size.push_back({ Words::tr("share of all"), text::share(sum.bytes, live.requestedBytes), {}, {} });
        d.size.push_back({ Words::tr("blocks"), text::count(sum.blocks), {}, {} });
        if (stack.valid()) {
            addFrames(d, stack);
            d.frameHeading = info.key == model::GroupingInfo::Key::Stack ? Words::tr("Allocated by")
                                                                         : Words::tr("One of its stacks");
        }
        d.life.push_back({ Words::tr("counted"), text::instant(m_device, at), {}, at });
        return d;
    }

    QString titled(const QString& what, model::StackId stack) const
    {
        const QString whom = byWhom(m_recording, stack);
        return whom.isEmpty() ? what : Words::tr("%1 by %2").arg(what, whom);
    }

    static DetailsRow sizeRow(const QString& label, std::int64_t bytes)
    {
        return { label, text::bytes(bytes), text::exactBytes(bytes), {} };
    }

    DetailsRow eventRow(const QString& label, std::uint32_t e) const
    {
        return { label, text::instant(m_device, e), {}, model::EventIndex{ e } };
    }

    DetailsRow lifetimeRow(std::uint32_t born, std::uint32_t died) const
    {
        const QString events = Words::tr("%n event(s)", nullptr, static_cast<int>(died - born));
        const model::Clock& clock = m_device.timeline->clock();
        if (!clock.hasTimes())
            return { Words::tr("lived"), events, {}, {} };
        return { Words::tr("lived"), text::duration(clock.timeNs(died) - clock.timeNs(born)), events, {} };
    }

    void addFrames(Details& d, model::StackId stack) const
    {
        d.frameHeading = Words::tr("Allocated by");
        d.frames = framesOf(m_recording, m_recording.stacks.stack(stack));
        if (d.frames.empty())
            d.noFrames
                = Words::tr("No stack was recorded here: record with context=\"all\", and start before the "
                            "memory is allocated.");
    }

    /// What the block is for and what told it, whose it is, and the tensor of the program that lies in it.
    void addPurpose(Details& d, model::BlockId id) const
    {
        const TrainingData* const training = m_device.training.get();
        if (!training || !training->categories || !training->knowsBlocksOf(m_device) || !training->knows(id))
            return;
        const model::BlockCategory& category = training->categories->of(id);
        d.purpose.push_back({ Words::tr("category"), text::said(model::categoryTitle(category.category)),
            text::said(model::reasonOf(category)), {} });
        const model::ListedTensors& tensors = training->categories->tensors();
        if (const std::string_view module = model::moduleOf(*training->trace, tensors, id); !module.empty())
            d.purpose.push_back({ Words::tr("module"), text::utf8(module), {}, {} });
        const auto in = tensors.in(id);
        const model::RoleListing none, &tensor = in.empty() ? none : tensors.listing(in.front());
        if (tensor.name.valid())
            d.purpose.push_back({ Words::tr("tensor"), text::utf8(m_recording.strings[tensor.name]),
                tensor.part.valid() ? text::utf8(m_recording.strings[tensor.part]) : QString(), {} });
    }

    void addPoolAndStream(Details& d, model::PoolIndex pool, model::StreamIndex stream) const
    {
        d.place.push_back({ Words::tr("pool"), text::utf8(model::poolLabel(m_recording, pool)), {}, {} });
        if (stream < m_recording.streams.size())
            d.place.push_back({ Words::tr("stream"), text::stream(m_recording, stream), {}, {} });
    }

    void addRecorded(Details& d, std::uint32_t e) const
    {
        const model::EventColumns& events = m_trace.events();
        const std::pair<QString, const model::SparseText*> texts[]
            = { { Words::tr("user metadata"), &events.userMetadata },
                  { Words::tr("compile context"), &events.compileContext },
                  { Words::tr("other keys"), &events.extras } };
        for (const auto& [label, column] : texts)
            if (const model::StringId text = column->at(e); text.valid())
                d.recorded.push_back({ label, text::utf8(m_recording.strings[text]), {}, {} });
    }

    const DeviceData& m_device;
    const model::DeviceTrace& m_trace;
    const model::Recording& m_recording;
};

} // namespace

Details detailsOf(const DeviceData& device, const Focus& focus, model::EventIndex at)
{
    const Builder builder(device);
    switch (focus.kind) {
    case Focus::Kind::Nothing:
    case Focus::Kind::Work:
        return {};
    case Focus::Kind::Block:
        return builder.block(focus.block);
    case Focus::Kind::Event:
        return builder.event(focus.event);
    case Focus::Kind::Group:
        return builder.group(focus.grouping, focus.group, at);
    case Focus::Kind::Frame:
        return builder.frame(*focus.frame, focus.event);
    }
    return {};
}

Details detailsOf(const WorkDetails& work)
{
    Details details;
    details.kind = work.kind;
    details.title = work.title;
    const auto add = [](std::vector<DetailsRow>& to, const WorkDetails::Rows& rows) {
        for (const auto& [label, value] : rows)
            to.push_back({ label, value, {}, {} });
    };
    add(details.size, work.size);
    add(details.life, work.life);
    add(details.place, work.place);
    add(details.recorded, work.recorded);
    for (const WorkDetails::Frame& frame : work.frames)
        details.frames.push_back(
            { QStringLiteral("%1:%2").arg(frame.file.section(QLatin1Char('/'), -1)).arg(frame.line),
                frame.function, frame.file, frame.line, frame.isOwn });
    if (!details.frames.empty())
        details.frameHeading = Words::tr("Called from");
    return details;
}

QString stackText(const Details& details)
{
    QString text;
    for (const DetailsFrame& frame : details.frames)
        text += frame.line > 0
            ? QStringLiteral("%1:%2 %3\n").arg(frame.file).arg(frame.line).arg(frame.function)
            : QStringLiteral("%1 %2\n").arg(frame.file, frame.function);
    return text;
}

QString detailsText(const Details& details)
{
    QString text = details.kind + QLatin1String(": ") + details.title + QLatin1Char('\n');
    for (const auto* rows :
        { &details.size, &details.life, &details.purpose, &details.place, &details.recorded })
        for (const DetailsRow& row : *rows)
            text += row.exact.isEmpty() ? QStringLiteral("%1\t%2\n").arg(row.label, row.value)
                                        : QStringLiteral("%1\t%2\t%3\n").arg(row.label, row.value, row.exact);
    text.remove(QChar(0x200b)); // where lines may end
    return text + stackText(details);
}

} // namespace strata::views
