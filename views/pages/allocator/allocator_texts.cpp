// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/allocator/allocator_texts.h"

#include "views/models/document/document.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <array>
#include <functional>

namespace strata::views {

namespace {

struct AllocatorTexts {
    Q_DECLARE_TR_FUNCTIONS(AllocatorTexts)
};

QString strongBytes(std::int64_t bytes)
{
    return text::strong(text::bytes(bytes));
}

QString moment(const MapPicture& picture)
{
    const model::EventIndex event = picture.map.event;
    const DeviceData& device = *picture.device;
    if (device.trace->eventCount() == 0)
        return AllocatorTexts::tr("At the end,");
    if (event < 0)
        return AllocatorTexts::tr("Before the first event,");
    return AllocatorTexts::tr("After %1,")
        .arg(text::link(text::instant(device.timeline->clock(), event), event));
}

QString segments(const MapPicture& picture)
{
    return text::counted(
        std::ssize(picture.rows), AllocatorTexts::tr("1 segment"), AllocatorTexts::tr("%1 segments"));
}

QStringList pendingText(const model::Fragmentation& of)
{
    if (of.pendingBytes <= 0)
        return {};
    return { AllocatorTexts::tr("%1 more were freed, but wait for another stream.")
                 .arg(strongBytes(of.pendingBytes)) };
}

/// "By stream: 5.00 GiB default, 1.00 GiB 0x55d0, 3 more."; nothing where there is one.
QString sumsText(const QString& by, const std::vector<model::ReservedSum>& sums,
    const std::function<QString(const model::ReservedSum&)>& name)
{
    constexpr std::size_t kShown = 3;
    if (sums.size() < 2)
        return {};
    QStringList parts;
    for (std::size_t i = 0; i < std::min(kShown, sums.size()); ++i)
        parts << strongBytes(sums[i].reservedBytes) + QLatin1Char(' ') + name(sums[i]);
    if (sums.size() > kShown)
        parts << AllocatorTexts::tr("%1 more").arg(text::count(std::ssize(sums) - std::ssize(parts)));
    return by.arg(parts.join(QStringLiteral(", ")));
}

/// Reserved memory by stream and by pool.
QStringList placesText(const MapPicture& picture)
{
    const model::Fragmentation& of = picture.fragmentation;
    const model::Recording& recording = picture.device->trace->recording();
    QStringList all{ sumsText(AllocatorTexts::tr("By stream: %1."), of.streams,
                         [&](const model::ReservedSum& sum) {
                             const std::int64_t stream
                                 = sum.stream == model::kNoIndex ? 0 : recording.streams[sum.stream];
                             return stream == 0 ? AllocatorTexts::tr("default")
                                                : text::address(static_cast<std::uint64_t>(stream));
                         }),
        sumsText(AllocatorTexts::tr("By pool: %1."), of.pools, [](const model::ReservedSum& sum) {
            return sum.pool.isDefault() ? AllocatorTexts::tr("default")
                                        : QStringLiteral("(%1,%2)").arg(sum.pool.owner).arg(sum.pool.id);
        }) };
    all.removeAll(QString());
    return all;
}

/// An out-of-memory comes first.
QStringList refusedText(const MapPicture& picture)
{
    if (!picture.refused)
        return {};
    const auto& replay = picture.device->replay;
    const model::OomVerdict* const verdict
        = replay && replay->explained ? &replay->explained->verdict : nullptr;
    const QString what = text::strong(
        AllocatorTexts::tr("A request for %1 failed here.").arg(text::bytes(picture.refused->bytes)));
    if (verdict == nullptr || verdict->event != picture.map.event)
        return { what };
    QString why = text::said(model::verdictSentence(*verdict));
    if (!why.isEmpty())
        why[0] = why[0].toUpper();
    return { what, AllocatorTexts::tr("%1.").arg(why.toHtmlEscaped()) };
}

} // namespace

QString allocatorVerdict(const MapPicture& picture)
{
    const model::Fragmentation& of = picture.fragmentation;
    QStringList all = refusedText(picture);
    if (of.freeBytes > 0)
        all << AllocatorTexts::tr("%1 %2 are reserved in %3, %4 of it free; the largest free block is %5.")
                   .arg(moment(picture), strongBytes(of.reservedBytes), segments(picture),
                       strongBytes(of.freeBytes), strongBytes(of.largestFreeBytes));
    else
        all << AllocatorTexts::tr("%1 %2 are reserved in %3, all of it in use.")
                   .arg(moment(picture), strongBytes(of.reservedBytes), segments(picture));
    all += pendingText(of);
    if (!picture.map.exact)
        all << AllocatorTexts::tr("Sizes of blocks are at least these, what is free at most.");
    return text::unbroken(all.join(QLatin1Char(' ')));
}

QString allocatorFooter(const MapPicture& picture)
{
    std::int64_t blocks = 0;
    for (const model::MapBlock& block : picture.map.blocks)
        blocks += block.isFree() ? 0 : 1;
    const QString counted = segments(picture) + QStringLiteral(", ")
        + text::counted(blocks, AllocatorTexts::tr("1 block in use"), AllocatorTexts::tr("%1 blocks in use"));
    if (picture.map.exact)
        return counted + AllocatorTexts::tr("; every size is exact");
    const auto& replay = picture.device->replay;
    if (!replay)
        return counted;
    const QString why = replay->report ? text::said(replay->report->reason()) : text::said(replay->refusal);
    return AllocatorTexts::tr("%1; not exact: %2").arg(counted, why.toHtmlEscaped());
}

QString fragmentationVerdict(const MapPicture& picture)
{
    const model::Fragmentation& of = picture.fragmentation;
    QStringList all = refusedText(picture);
    if (of.freeBytes <= 0) {
        all << AllocatorTexts::tr("%1 all of the %2 that are reserved is in use.")
                   .arg(moment(picture), strongBytes(of.reservedBytes));
    } else {
        all << AllocatorTexts::tr("%1 %2 of the %3 that are reserved are free (%4).")
                   .arg(moment(picture), strongBytes(of.freeBytes), strongBytes(of.reservedBytes),
                       text::share(of.freeBytes, of.reservedBytes).toHtmlEscaped());
        if (of.pinnedFreeBytes() > 0)
            all << AllocatorTexts::tr("Live blocks pin %1 of it in %2; the largest free block is %3.")
                       .arg(strongBytes(of.pinnedFreeBytes()),
                           text::counted(std::ssize(of.pinned), AllocatorTexts::tr("1 segment"),
                               AllocatorTexts::tr("%1 segments")),
                           strongBytes(of.largestFreeBytes));
        all += pendingText(of);
        if (of.cachedSegmentsBytes > 0)
            all << AllocatorTexts::tr("%1 are %2.")
                       .arg(strongBytes(of.cachedSegmentsBytes),
                           text::said(model::cachedSentence(of.cachedSegmentsBytes, of.cachedPrivateBytes)));
    }
    all += placesText(picture);
    const auto& replay = picture.device->replay;
    if (replay)
        for (const model::Sentence& sentence : model::saySharing(*picture.device->trace, of, replay->sharing))
            all << text::said(sentence).toHtmlEscaped();
    if (replay && replay->settings && !replay->settings->empty()) {
        const model::SettingTried& best = replay->settings->front();
        const QString settings
            = text::strong(best.settings.empty() ? AllocatorTexts::tr("the defaults")
                                                 : text::utf8(best.settings).toHtmlEscaped());
        const QString sure = best.exact ? QString() : AllocatorTexts::tr(" (an estimate)");
        if (best.servesRequest)
            all << (*best.servesRequest
                    ? AllocatorTexts::tr("With %1 the refused request would be served%2.").arg(settings, sure)
                    : AllocatorTexts::tr("No other setting that was tried serves the refused request."));
        else if (best.need.savedBytes() > 0 && !best.refusesMore && !best.settings.empty())
            all << AllocatorTexts::tr("With %1 PyTorch would reserve %2 less at its peak%3.")
                       .arg(settings, strongBytes(best.need.savedBytes()), sure);
        else if (best.exact)
            all << AllocatorTexts::tr("No other setting that was tried reserves less at its peak.");
        else
            all << AllocatorTexts::tr("What other settings would reserve cannot be told for sure: %1.")
                       .arg(text::said(best.reason).toHtmlEscaped());
        if (const model::Sentence endless = model::sayPeaksAreEndless(*replay->settings); !endless.empty())
            all << text::said(endless).toHtmlEscaped();
    }
    return text::unbroken(all.join(QLatin1Char(' ')));
}

QString thrashText(const ReplayData& replay)
{
    QStringList all;
    if (replay.thrash)
        for (const model::Sentence& sentence : model::sayThrash(*replay.thrash))
            all << text::withMicro(text::said(sentence)).toHtmlEscaped();
    return text::unbroken(all.join(QLatin1Char(' ')));
}

QString replayText(const Document& document, const DeviceData& device)
{
    if (!device.replay)
        return document.replaying()  ? AllocatorTexts::tr("being replayed")
            : document.isFollowing() ? AllocatorTexts::tr("replayed once the program has ended")
                                     : AllocatorTexts::tr("the replay was cancelled");
    if (!device.replay->report)
        return text::said(device.replay->refusal);
    return device.replay->exact() ? AllocatorTexts::tr("exact: every event is that of the recording")
                                  : text::said(device.replay->report->reason());
}

} // namespace strata::views
