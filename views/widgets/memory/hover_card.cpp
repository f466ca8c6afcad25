// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/reserved_at.h"
#include "model/trace/thread_names.h"
#include "views/models/document/group_colours.h"
#include "views/style/texts.h"
#include "views/widgets/memory/hit.h"

#include <QObject>

namespace strata::views {

namespace {

constexpr qsizetype kLongestName = 56;

QString name(const std::string& text)
{
    return text::shortened(text::utf8(text), kLongestName, text::Keep::End);
}

QString lifeText(const CanvasScene& scene, model::BlockId block)
{
    const model::BlockColumns& blocks = scene.device->trace->blocks();
    const model::EventIndex birth = blocks.birth(block), death = blocks.death(block);
    const model::Clock& clock = scene.clock();
    const bool ends = death < clock.eventCount();
    const QString from = birth < 0 ? QObject::tr("older than the trace")
                                   : QObject::tr("from event %1").arg(text::count(birth));
    const QString to
        = ends ? QObject::tr("to event %1").arg(text::count(death)) : QObject::tr("live at the end");
    if (birth < 0 || !ends)
        return QStringLiteral("%1, %2").arg(from, to);
    const QString length = clock.hasTimes() ? text::duration(clock.timeNs(death) - clock.timeNs(birth))
                                            : QObject::tr("%1 events").arg(text::count(death - birth));
    return QObject::tr("%1 %2 (%3)").arg(from, to, length);
}

/// "Activations of h.3.attn"; empty where nothing is known of the block.
QString purpose(const DeviceData& device, model::BlockId block)
{
    const TrainingData* const training = device.training.get();
    if (!training || !training->byModule || !training->knowsBlocksOf(device) || !training->knows(block))
        return {};
    const auto &byCategory = training->byCategory, &byModule = training->byModule;
    const QString category = groupName(*byCategory, byCategory->groupOf(block));
    const std::uint32_t module = byModule->groupOf(block);
    return namesNothing(*byModule, module)
        ? category
        : QObject::tr("%1 of %2").arg(category, name(byModule->label(module)));
}

void describeBlock(HoverCard& card, const CanvasScene& scene, const Hit& hit)
{
    const model::BlockColumns& blocks = scene.device->trace->blocks();
    const model::Recording& recording = scene.device->trace->recording();
    card.title = text::bytes(hit.bytes);
    card.name = name(scene.device->byLine->label(scene.device->byLine->groupOf(hit.block)));
    card.lines
        << QObject::tr("%1 at %2").arg(text::exactBytes(hit.bytes), text::address(blocks.address[hit.block]));
    card.lines << lifeText(scene, hit.block);
    if (const QString what = purpose(*scene.device, hit.block); !what.isEmpty())
        card.lines << what;
    QStringList place;
    if (blocks.stream[hit.block] < recording.streams.size())
        place << QObject::tr("stream %1").arg(text::stream(recording, blocks.stream[hit.block]));
    place << QObject::tr("pool %1").arg(
        QString::fromStdString(model::poolLabel(recording, blocks.pool[hit.block])));
    if (blocks.pendingAt(hit.block, hit.event))
        place << QObject::tr("pending free");
    card.lines << place.join(QStringLiteral(", "));
}

void describeAnnotation(HoverCard& card, const CanvasScene& scene, const Hit& hit)
{
    const model::AnnotationSpan& span = scene.annotations()[static_cast<std::size_t>(hit.annotation)];
    card.title = text::utf8(span.name);
    const QString length = text::duration(span.endNs - span.beginNs);
    card.lines << (span.openBegin || span.openEnd
            ? QObject::tr("%1 of it recorded").arg(length)
            : QObject::tr("%1, %2 events").arg(length, text::count(span.last - span.first)));
    const model::CurveRange peak = scene.timeline().requested().range(span.first, span.last);
    card.lines << QObject::tr("peak %1 at %2").arg(text::bytes(peak.max), text::event(peak.maxEvent));
    // By level, and so by thread.
    if (scene.annotations().front().thread != scene.annotations().back().thread)
        card.lines << (model::threadName(scene.recording(), span.thread).empty()
                ? threadText(scene.recording(), span.thread)
                : QObject::tr("thread %1").arg(threadText(scene.recording(), span.thread)));
}

/// The text of a note in lines that a card has room for.
QStringList wrapped(const QString& text)
{
    constexpr qsizetype kLongest = 64, kMost = 8;
    QStringList lines;
    for (const QString& paragraph : text.split(QLatin1Char('\n'))) {
        QString rest = paragraph.trimmed();
        while (rest.size() > kLongest) {
            qsizetype cut = rest.lastIndexOf(QLatin1Char(' '), kLongest);
            if (cut <= 0)
                cut = kLongest;
            lines << rest.left(cut);
            rest = rest.mid(cut).trimmed();
        }
        if (!rest.isEmpty())
            lines << rest;
    }
    if (lines.size() > kMost) {
        lines.resize(kMost);
        lines.back() += QStringLiteral(" …");
    }
    return lines;
}

void describeNote(HoverCard& card, const CanvasScene& scene, const Hit& hit)
{
    const model::UserItem& note = scene.notes[static_cast<std::size_t>(hit.note)];
    const bool range = note.first != note.last;
    card.title = range ? QObject::tr("Named range") : QObject::tr("Note");
    card.lines << wrapped(QString::fromStdString(note.text));
    const model::Clock& clock = scene.clock();
    if (range) {
        const QString events
            = QObject::tr("events %1 – %2").arg(text::count(note.first), text::count(note.last));
        card.lines << (clock.hasTimes() ? QStringLiteral("%1 · %2").arg(
                           events, text::duration(clock.timeNs(note.last) - clock.timeNs(note.first)))
                                        : events);
    } else {
        card.lines << text::instant(clock, note.first);
    }
    if (note.address != 0)
        card.lines << QObject::tr("on the block at %1").arg(text::address(note.address));
    if (hit.notesHere > 1)
        card.lines << QObject::tr("%1 more here: zoom in to tell them apart").arg(hit.notesHere - 1);
}

void describeCurves(HoverCard& card, const CanvasScene& scene, const Hit& hit)
{
    const model::DeviceTimeline& timeline = scene.timeline();
    card.title = text::bytes(timeline.requested().at(hit.event));
    card.name = QObject::tr("requested");
    if (const model::RoundedCurves* const rounded = scene.device->rounded())
        card.lines << QObject::tr("%1 allocated").arg(text::bytes(rounded->allocated.at(hit.event)));
    if (const auto reserved = model::reservedAt(timeline, hit.event))
        card.lines << QObject::tr("%1 reserved").arg(text::bytes(*reserved));
    if (const std::int64_t pending = timeline.pendingFree().at(hit.event); pending > 0)
        card.lines << QObject::tr("%1 of it pending free").arg(text::bytes(pending));
    if (const auto driver = driverBytesAt(scene, hit.event))
        card.lines << (scene.driver().ofProcess ? QObject::tr("%1 in the process, the driver last said")
                                                : QObject::tr("%1 in all processes, the driver last said"))
                          .arg(text::bytes(*driver));
}

} // namespace

HoverCard cardFor(const CanvasScene& scene, const PictureSubject& subject, const Hit& hit)
{
    HoverCard card;
    const auto layer = [&](const QString& whose) {
        const std::int64_t total = scene.timeline().requested().at(hit.event);
        card.title = text::bytes(hit.bytes);
        card.name = whose;
        card.lines << QObject::tr("%1, %2 of %3")
                          .arg(
                              text::exactBytes(hit.bytes), text::share(hit.bytes, total), text::bytes(total));
    };
    switch (hit.kind) {
    case Hit::Kind::Nothing:
        return card;
    case Hit::Kind::Above:
        if (scene.mode == PictureMode::Blocks) {
            card.title = QObject::tr("no block here");
            break;
        }
        describeCurves(card, scene, hit);
        break;
    case Hit::Kind::Curves:
        describeCurves(card, scene, hit);
        break;
    case Hit::Kind::Group:
        layer(text::shortened(groupName(*subject.groups->table, hit.group), kLongestName, text::Keep::End));
        break;
    case Hit::Kind::BeforeTrace:
        layer(QObject::tr("before the trace"));
        break;
    case Hit::Kind::Other:
        layer(QObject::tr("other"));
        break;
    case Hit::Kind::FilteredOut:
        layer(QObject::tr("left out by the filter"));
        break;
    case Hit::Kind::Block:
        describeBlock(card, scene, hit);
        break;
    case Hit::Kind::Annotation:
        describeAnnotation(card, scene, hit);
        break;
    case Hit::Kind::Note:
        describeNote(card, scene, hit);
        return card;
    }
    if (scene.hasEvents())
        card.lines << instantText(scene, hit);
    return card;
}

std::optional<FillStyle> swatchFor(const GroupStyles& styles, const Hit& hit)
{
    switch (hit.kind) {
    case Hit::Kind::Group:
    case Hit::Kind::Block:
        return styles.group(hit.group);
    case Hit::Kind::BeforeTrace:
        return styles.beforeTrace();
    case Hit::Kind::Other:
        return styles.other();
    case Hit::Kind::FilteredOut:
        return styles.filteredOut();
    default:
        return std::nullopt;
    }
}

QString cardText(const HoverCard& card)
{
    QStringList parts;
    if (!card.title.isEmpty())
        parts << (card.name.isEmpty() ? card.title : card.title + QLatin1Char(' ') + card.name);
    return (parts + card.lines).join(QStringLiteral("  ·  "));
}

} // namespace strata::views
