// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lane_words.h"

#include "model/analysis/work/device/device_work.h"
#include "model/trace/filter/frame_origin.h"
#include "model/trace/thread_names.h"
#include "views/style/texts.h"
#include "views/widgets/timeline/work_callers.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <array>
#include <utility>

namespace strata::views {

namespace {

struct LaneTexts {
    Q_DECLARE_TR_FUNCTIONS(Timeline)
};

QString nameOf(WorkLook look)
{
    switch (look) {
    case WorkLook::Computation:
        return LaneTexts::tr("Kernels");
    case WorkLook::Communication:
        return LaneTexts::tr("Communication");
    case WorkLook::Copy:
        return LaneTexts::tr("Copies and sets");
    case WorkLook::Wait:
        return LaneTexts::tr("Waiting for the GPU");
    case WorkLook::Operator:
        return LaneTexts::tr("Operators");
    case WorkLook::Runtime:
        return LaneTexts::tr("Calls of the runtime");
    case WorkLook::Annotation:
        return LaneTexts::tr("Annotations and steps");
    case WorkLook::Python:
        return LaneTexts::tr("Python");
    case WorkLook::Other:
        break;
    }
    return LaneTexts::tr("Other");
}

} // namespace

WorkLook lookOf(const model::WorkSpan& span, std::string_view name)
{
    using model::WorkKind;
    switch (span.kind) {
    case WorkKind::Kernel:
        return model::useOf(name) == model::WorkUse::Communication ? WorkLook::Communication
                                                                   : WorkLook::Computation;
    case WorkKind::Copy:
    case WorkKind::Set:
        return WorkLook::Copy;
    case WorkKind::Synchronisation:
        return WorkLook::Wait;
    case WorkKind::Operator: // a step was an operator in 2021
        return name.starts_with("ProfilerStep#") ? WorkLook::Annotation : WorkLook::Operator;
    case WorkKind::Runtime:
        return WorkLook::Runtime;
    case WorkKind::Annotation:
    case WorkKind::DeviceAnnotation:
        return WorkLook::Annotation;
    case WorkKind::Python:
        return WorkLook::Python;
    case WorkKind::Overhead:
    case WorkKind::Other:
        break;
    }
    return WorkLook::Other;
}

QColor colourOf(const Palette& palette, WorkLook look)
{
    switch (look) {
    case WorkLook::Computation:
        return palette.group(0);
    case WorkLook::Communication:
        return palette.group(2);
    case WorkLook::Copy:
        return palette.group(7);
    case WorkLook::Wait:
        return palette.group(6);
    case WorkLook::Operator:
        return palette.group(1);
    case WorkLook::Runtime:
        return palette.group(3);
    case WorkLook::Annotation:
        return palette[Palette::Role::FilteredOut];
    case WorkLook::Python:
        return palette.group(10);
    case WorkLook::Other:
        break;
    }
    return palette[Palette::Role::Other];
}

std::vector<Legend::Entry> workLegend(const Palette& palette, const LanesData& lanes)
{
    std::array<bool, kWorkLooks> occurs{};
    for (std::uint32_t span = 0; span < lanes.work().spans.size(); ++span)
        occurs[lanes.lookOf(span) / 2] = true;
    std::vector<Legend::Entry> entries;
    for (int i = 0; i < kWorkLooks; ++i)
        if (const auto look = static_cast<WorkLook>(i); occurs[static_cast<std::size_t>(i)])
            entries.push_back(
                { nameOf(look), [colour = colourOf(palette, look)](int) { return QBrush(colour); } });
    const auto addMarks = [&](MarkTrack::Part part, const QString& name, Palette::Role role) {
        if (lanes.marks().has(part))
            entries.push_back({ name, [colour = palette[role]](int) { return QBrush(colour); } });
    };
    addMarks(MarkTrack::Part::Segments, LaneTexts::tr("Allocator: taken (up), given back (down)"),
        Palette::Role::Reserved);
    addMarks(MarkTrack::Part::OutOfMemories, LaneTexts::tr("Out of memory"), Palette::Role::Bad);
    return entries;
}

namespace text {

QString lane(const model::WorkLane& lane, const model::StringTable& strings)
{
    if (lane.device && *lane.device < 0)
        return LaneTexts::tr("a GPU"); // none was named yet where it was waited for
    if (lane.device && lane.stream < 0)
        return LaneTexts::tr("GPU %1, all streams").arg(*lane.device);
    if (lane.device)
        return LaneTexts::tr("GPU %1, stream %2").arg(*lane.device).arg(lane.stream);
    // The number, which tells threads apart, stands last, where it is not cut.
    const QString name = utf8(model::withoutThreadNumber(
        lane.threadName.valid() ? strings[lane.threadName] : std::string_view(lane.ownName)));
    if (name.isEmpty())
        return LaneTexts::tr("thread %1").arg(lane.thread);
    const bool isNumbered = lane.thread > -(std::int64_t{ 1 } << 32); // else the file names it alone
    return isNumbered ? QStringLiteral("%1 %2").arg(name).arg(lane.thread) : name;
}

QString workKind(model::WorkKind kind)
{
    return utf8(model::workKindWord(kind));
}

QStringList workLines(const LanesData& lanes, std::uint32_t place)
{
    const model::WorkSpan& span = lanes.work().spans[place];
    return { shortened(lanes.nameOf(place), 120),
        LaneTexts::tr("%1, %2").arg(workKind(span.kind), duration(span.durationNs)),
        lane(lanes.work().lanes[span.lane], lanes.strings()) };
}

namespace {

void addKernel(WorkDetails& details, const model::KernelDetail& kernel)
{
    const auto triple = [](const std::int32_t(&of)[3]) {
        return QStringLiteral("%1 x %2 x %3").arg(of[0]).arg(of[1]).arg(of[2]);
    };
    if (kernel.grid[0] >= 0) {
        details.recorded.emplace_back(LaneTexts::tr("grid"), triple(kernel.grid));
        details.recorded.emplace_back(LaneTexts::tr("block"), triple(kernel.block));
    }
    if (kernel.registers >= 0)
        details.recorded.emplace_back(
            LaneTexts::tr("registers"), LaneTexts::tr("%1 a thread").arg(kernel.registers));
    if (kernel.sharedBytes >= 0)
        details.recorded.emplace_back(
            LaneTexts::tr("shared"), LaneTexts::tr("%1 a block").arg(bytes(kernel.sharedBytes)));
    if (kernel.occupancyPercent >= 0)
        details.recorded.emplace_back(LaneTexts::tr("occupancy"),
            LaneTexts::tr("%1 %, estimated").arg(std::lround(kernel.occupancyPercent)));
}

void addOperator(WorkDetails& details, const model::OperatorDetail& called, const model::StringTable& strings)
{
    const auto add = [&](const QString& label, model::StringId text) {
        if (text.valid() && !strings[text].empty())
            details.recorded.emplace_back(label, shortened(strings[text], 400));
    };
    add(LaneTexts::tr("shapes"), called.shapes);
    add(LaneTexts::tr("types"), called.types);
    add(LaneTexts::tr("values"), called.values);
    if (called.sequence >= 0)
        details.recorded.emplace_back(
            LaneTexts::tr("autograd"), LaneTexts::tr("number %1").arg(called.sequence));
}

} // namespace

namespace {

/// Names of templates have no spaces; a line may end behind their marks.
QString breakable(QString name)
{
    static const QRegularExpression kMarks(QStringLiteral("([:<>,(_])(?![:<>,(_])"));
    return name.replace(kMarks, QStringLiteral("\\1\u200b"));
}

/// The operator in which it stands, its module, and the functions of Python that called it.
void addCallers(WorkDetails& details, const LanesData& lanes, std::uint32_t piece)
{
    const WorkCallers callers = callersOf(lanes, piece);
    const auto add = [&](const QString& label, std::optional<std::uint32_t> caller) {
        if (!caller || *caller == piece)
            return;
        const std::string_view name = lanes.nameOf(*caller);
        const std::string_view plain
            = name.starts_with(kModulePrefix) ? name.substr(kModulePrefix.size()) : name;
        details.place.emplace_back(label, breakable(shortened(plain, 160)));
    };
    add(LaneTexts::tr("operator"), callers.op);
    add(LaneTexts::tr("forward"), callers.forward);
    add(LaneTexts::tr("module"), callers.module);
    for (const std::uint32_t function : callers.functions)
        if (const auto place = pythonPlaceOf(lanes.nameOf(function)))
            details.frames.push_back({ utf8(place->file), utf8(place->function), place->line,
                model::originOf(place->file) == model::FrameOrigin::User });
}

} // namespace

WorkDetails workDetails(const LanesData& lanes, std::uint32_t place)
{
    const model::Work& work = lanes.work();
    const model::WorkSpan& span = work.spans[place];
    WorkDetails details;
    details.kind = workKind(span.kind);
    details.kind.replace(0, 1, details.kind.left(1).toUpper());
    details.title = breakable(shortened(lanes.nameOf(place), 400));
    details.size.emplace_back(LaneTexts::tr("took"), duration(span.durationNs));
    details.life.emplace_back(
        LaneTexts::tr("from"), LaneTexts::tr("%1 s").arg(seconds(lanes.tracks().beginOf(place))));
    details.life.emplace_back(
        LaneTexts::tr("to"), LaneTexts::tr("%1 s").arg(seconds(lanes.tracks().endOf(place))));
    details.place.emplace_back(LaneTexts::tr("on"), lane(work.lanes[span.lane], lanes.strings()));
    if (const auto partner = lanes.partnerOf(place)) {
        const bool isWork = model::isDeviceWork(span.kind);
        const std::uint32_t call = isWork ? *partner : place, launched = isWork ? place : *partner;
        const QString apart = duration(lanes.tracks().beginOf(launched) - lanes.tracks().beginOf(call));
        QString name = breakable(shortened(lanes.nameOf(*partner), 160));
        if (const std::int64_t others = lanes.launchedBy(place) - 1; others > 0) // a graph
            name = LaneTexts::tr("%1 and %2 more").arg(name, text::count(others));
        details.life.emplace_back(isWork ? LaneTexts::tr("launched by") : LaneTexts::tr("launched"), name);
        details.life.emplace_back(isWork ? LaneTexts::tr("earlier by") : LaneTexts::tr("later by"), apart);
    }
    addCallers(details, lanes, place);
    if (span.detail == model::WorkSpan::kNoWorkDetail)
        return details;
    if (span.kind == model::WorkKind::Kernel && span.detail < work.kernels.size())
        addKernel(details, work.kernels[span.detail]);
    const bool isCopy = span.kind == model::WorkKind::Copy || span.kind == model::WorkKind::Set;
    if (isCopy && span.detail < work.copies.size() && work.copies[span.detail].bytes >= 0) {
        const std::int64_t size = work.copies[span.detail].bytes;
        details.size.emplace_back(LaneTexts::tr("bytes"), bytes(size));
        if (span.durationNs > 0)
            details.size.emplace_back(LaneTexts::tr("a second"),
                bytes(static_cast<std::int64_t>(
                    static_cast<double>(size) * 1e9 / static_cast<double>(span.durationNs))));
    }
    if (span.kind == model::WorkKind::Operator && span.detail < work.operators.size())
        addOperator(details, work.operators[span.detail], lanes.strings());
    return details;
}

} // namespace text

} // namespace strata::views
