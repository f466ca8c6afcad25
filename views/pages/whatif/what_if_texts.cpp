// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_texts.h"

#include "model/cards/fits.h"
#include "model/whatif/ask/lacks.h"
#include "views/models/whatif/what_if_words.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/tables/table_page.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <optional>

namespace strata::views {

namespace {

struct WhatIfText {
    Q_DECLARE_TR_FUNCTIONS(WhatIfTexts)
};

QString strongAmount(std::int64_t bytes)
{
    return text::strong(text::bytes(bytes));
}

/// What the command line has an option for is named as this page has it.
QString whatIfSentence(const model::Sentence& what)
{
    QString words = text::said(what, model::kOtherRecording, WhatIfText::tr("Other recordings at the left"));
    words = words.toHtmlEscaped();
    if (!words.isEmpty())
        words[0] = words[0].toUpper();
    return words;
}

/// Whether it fits, in the order in which that matters.
struct Fitting {
    const WhatIfQuestion& question;
    std::int64_t leastBytes = 0, mostBytes = 0; ///< that it needs: between these
    bool isRefused = false; ///< it runs out of memory on the card that matters, which was said
    bool isServed = false; ///< on that card, whatever lies between the bounds

    [[nodiscard]] bool isExact() const { return leastBytes == mostBytes; }
};

/// The card that is asked for, else that of the recording; without a name where several have its memory.
struct OwnCard {
    const model::Card* card = nullptr;
    std::int64_t bytes = 0; ///< 0: not known
    QString name;
};

OwnCard ownCard(const WhatIfQuestion& question)
{
    OwnCard own;
    if (const auto asked = question.scenario.capacityBytes) {
        own = { cardWith(*asked), *asked, {} };
        own.name = own.card ? text::utf8(own.card->name)
                            : WhatIfText::tr("a device of %1").arg(text::bytes(*asked));
        return own;
    }
    const WhatIfRun& run = question.recordings.front().run;
    own.bytes = run.report ? run.report->capacityBytes.value_or(0) : 0;
    own.card = run.card();
    own.name = own.card ? WhatIfText::tr("the recorded %1").arg(text::utf8(own.card->name))
                        : WhatIfText::tr("the recorded device of %1").arg(text::bytes(own.bytes));
    return own;
}

/// Whether it fits on that; empty: it is not known, or was said.
QString ownFitText(const OwnCard& own, const Fitting& fitting)
{
    if (own.bytes <= 0 || fitting.isRefused)
        return {};
    const QString name = text::strong(own.name.toHtmlEscaped());
    const model::Card* const ranOn = recordedCardOf(fitting.question);
    if (own.card != nullptr && !model::isComparable(*own.card, ranOn))
        return WhatIfText::tr("%1 runs other kernels than the recorded %2: dry-run on it.")
            .arg(name, text::utf8(ranOn->name).toHtmlEscaped());
    const std::int64_t margin = own.bytes - fitting.mostBytes;
    const std::int64_t context = own.card != nullptr ? model::leastOutsideBytesOfProcess() : 0;
    if (fitting.leastBytes + context > own.bytes)
        return WhatIfText::tr("It does not fit on %1: %2 are missing.")
            .arg(name, text::bytes(fitting.leastBytes + context - own.bytes));
    if (margin < 0 && fitting.isServed)
        return WhatIfText::tr("It is tight on %1: the allocator has to give back what it caches, up to %2.")
            .arg(name, text::bytes(-margin));
    if (margin < 0)
        return WhatIfText::tr("It may not fit on %1: up to %2 are missing.").arg(name, text::bytes(-margin));
    if (margin < model::outsideBytesOfProcess())
        return WhatIfText::tr("It is tight on %1: of the %2 left over CUDA itself needs some.")
            .arg(name, text::bytes(margin));
    return (fitting.isExact() ? WhatIfText::tr("It fits on %1, with %2 left over.")
                              : WhatIfText::tr("It fits on %1, with at least %2 left over."))
        .arg(name, text::bytes(margin));
}

/// On the card that matters to whoever asks, and which is the smallest with room for it.
QString fitText(const Fitting& fitting)
{
    const model::Card* const ranOn = recordedCardOf(fitting.question);
    const std::vector<model::CardFit> fits = model::cardFits(fitting.mostBytes, false, ranOn);
    const model::CardFit* least = nullptr;
    for (const model::CardFit& fit : fits)
        if (fit.fit == model::Fit::Yes && (least == nullptr || fit.marginBytes < least->marginBytes))
            least = &fit;
    const OwnCard own = ownCard(fitting.question);
    const QString kernels = ranOn != nullptr // of others nothing is known
        ? WhatIfText::tr(" with the kernels of %1").arg(text::utf8(ranOn->name))
        : QString();
    QStringList all;
    if (const QString said = ownFitText(own, fitting); !said.isEmpty())
        all << said;
    if (least == nullptr)
        all << (ranOn != nullptr ? WhatIfText::tr("No card%1 is large enough.").arg(kernels)
                                 : WhatIfText::tr("No card of the catalogue is large enough."));
    else if (least->card == own.card && !all.isEmpty())
        all << WhatIfText::tr("No smaller card%1 would do.").arg(kernels);
    else
        all << (all.isEmpty() && fitting.isExact()
                ? WhatIfText::tr("The smallest card%1 that it fits on is %2, with %3 left over.")
                : WhatIfText::tr("The smallest card%1 that it fits on is %2, with at least %3 left over."))
                   .arg(kernels, text::strong(text::utf8(least->card->name).toHtmlEscaped()),
                       text::bytes(least->marginBytes));
    return all.join(QLatin1Char(' '));
}

QString fitText(const WhatIfQuestion& question, const model::Prediction& prediction)
{
    if (prediction.atLeastBytes) {
        const std::vector<model::CardFit> fits = model::cardFits(prediction.roomBytes());
        const bool none
            = std::ranges::all_of(fits, [](const model::CardFit& fit) { return fit.fit == model::Fit::No; });
        return none ? WhatIfText::tr("No card of the catalogue is large enough.")
                    : WhatIfText::tr("It needs at least %1: %2.")
                          .arg(strongAmount(*prediction.atLeastBytes),
                              text::said(prediction.atLeastBecause).toHtmlEscaped());
    }
    return fitText({ .question = question,
        .leastBytes = prediction.predicted ? prediction.neededBytes() : prediction.least.reservedBytesPeak,
        .mostBytes = prediction.roomBytes(),
        .isRefused = prediction.runsOutOfMemory,
        .isServed = !prediction.runsOutOfMemory && !prediction.mayRunOutOfMemory });
}

/// "1.20 GiB less than was recorded".
QString comparedText(std::int64_t is, std::int64_t was)
{
    if (is == was)
        return WhatIfText::tr("as much as was recorded");
    return is < was ? WhatIfText::tr("%1 less than was recorded").arg(strongAmount(was - is))
                    : WhatIfText::tr("%1 more than was recorded").arg(strongAmount(is - was));
}

/// The same of a recording that was refused a request, or is now.
QString comparedWithSettings(const model::ComparedNeed& need)
{
    const std::int64_t saved = need.savedBytes();
    if (saved == 0)
        return WhatIfText::tr("as much as with the recorded settings");
    return saved > 0 ? WhatIfText::tr("%1 less than with the recorded settings").arg(strongAmount(saved))
                     : WhatIfText::tr("%1 more than with the recorded settings").arg(strongAmount(-saved));
}

/// `event`: the first whose request is refused; none: not known.
QString outOfMemoryText(
    const WhatIfQuestion& question, std::optional<model::EventIndex> event, bool isPeakThere)
{
    const OwnCard own = ownCard(question);
    const QString where = own.bytes > 0 ? text::strong(own.name.toHtmlEscaped())
                                        : WhatIfText::tr("the device that was recorded");
    const QString dies = text::strong(WhatIfText::tr("runs out of memory"));
    if (!event)
        return WhatIfText::tr("It %1 on %2; the peak is that of one which is large enough.").arg(dies, where);
    const QString first = text::link(text::event(*event), *event);
    return isPeakThere
        ? WhatIfText::tr("It %1 there, first at %2.").arg(dies, first)
        : WhatIfText::tr("It %1 on %2, first at %3; the peak is that of one which is large enough.")
              .arg(dies, where, first);
}

QString refusalText(const WhatIfAnswer& answer)
{
    const WhatIfQuestion& question = answer.question;
    const model::Error& error = answer.prediction.error();
    const QString what = WhatIfText::tr("%1 %2.").arg(
        text::strong(WhatIfText::tr("No answer:")), text::said(error.what).toHtmlEscaped());
    const model::Lacks lacks = error.hint.lacks;
    if ((lacks == model::Lacks::Confirmation || lacks == model::Lacks::Calls)
        && model::anyDoes(question.scenario.changes, model::Does::Spreads))
        return what + QLatin1Char(' ')
            + WhatIfText::tr("Switch the ranks off to confirm it, below: no program is run as one of many.");
    return what + QLatin1Char(' ') + whatIfHint(error);
}

} // namespace

QString whatIfHint(const model::Error& error)
{
    switch (error.hint.lacks) {
    case model::Lacks::BatchItems:
        return WhatIfText::tr(
            "Say it at the left. Recorded with strata record --operators, the shapes of a whole "
            "training step tell it.");
    case model::Lacks::OtherRecording:
        return WhatIfText::tr("Give a second recording with another batch in Other recordings at the left.");
    case model::Lacks::SequenceLength:
        return WhatIfText::tr(
            "Say at the left how long sequences are: of this recording in Sequence, of each "
            "other one in Other recordings.");
    case model::Lacks::OtherLength:
        return WhatIfText::tr(
            "Give a second recording with sequences of another length in Other recordings at "
            "the left.");
    case model::Lacks::Capacity:
        return WhatIfText::tr("Choose the device that it is to fit at the left.");
    case model::Lacks::Confirmation:
        return WhatIfText::tr("Confirm it, below: the program tells, and so do its recorded calls.");
    case model::Lacks::Calls:
        return WhatIfText::tr("Confirm it, below, by its recorded calls.");
    case model::Lacks::Program:
        return WhatIfText::tr(
            "Run the program so: Confirm, below, with {BATCH} and {SEQUENCE} where it is told "
            "them.");
    case model::Lacks::Nothing:
        break;
    }
    const QString hint = whatIfSentence(error.hint.said);
    return hint.isEmpty() ? hint : hint + QLatin1Char('.');
}

QString whatIfVerdict(const WhatIfAnswer& answer)
{
    if (!answer.prediction)
        return text::unbroken(refusalText(answer));
    const model::Prediction& prediction = *answer.prediction;
    const model::Scenario& scenario = answer.question.scenario;
    const std::int64_t was = prediction.recorded.reservedBytesPeak;
    QStringList all;
    if (scenario.changesNothing() && !prediction.predicted) {
        all << WhatIfText::tr(
            "It reserves up to something between %1 and %2: the recording is of the likeliest run "
            "of a prediction, which reserves %3.")
                   .arg(strongAmount(prediction.least.reservedBytesPeak),
                       strongAmount(prediction.most.reservedBytesPeak), text::bytes(was));
    } else if (scenario.changesNothing()) {
        const std::int64_t is = prediction.predicted ? prediction.predicted->reservedBytesPeak : was;
        all << (is == was
                ? WhatIfText::tr("As it was recorded, it reserves up to %1.").arg(strongAmount(was))
                : WhatIfText::tr("It reserved up to %1; as it was recorded, the replay comes to %2.")
                      .arg(text::bytes(was), strongAmount(is)));
    } else {
        const QString with = text::strong(text::scenario(scenario).toHtmlEscaped());
        if (prediction.predicted) {
            const std::int64_t is = prediction.predicted->reservedBytesPeak;
            all << (prediction.exact ? WhatIfText::tr("With %1 it would reserve up to %2, %3.")
                                     : WhatIfText::tr("With %1 it would reserve up to about %2, %3."))
                       .arg(with, strongAmount(is),
                           prediction.recordedNeed ? comparedWithSettings(prediction.compared())
                                                   : comparedText(is, was));
        } else if (prediction.atLeastBytes) {
            all << WhatIfText::tr(
                "With %1 it would reserve at least %2, as far as the recording goes; %3 was recorded.")
                       .arg(with,
                           strongAmount(std::max(prediction.least.reservedBytesPeak, prediction.roomBytes())),
                           text::bytes(was));
        } else {
            all << WhatIfText::tr(
                "With %1 it would reserve up to something between %2 and %3; %4 was recorded.")
                       .arg(with, strongAmount(prediction.least.reservedBytesPeak),
                           strongAmount(prediction.most.reservedBytesPeak), text::bytes(was));
        }
    }
    if (prediction.runsOutOfMemory)
        all << outOfMemoryText(
            answer.question, prediction.outOfMemoryEvent, scenario.changesNothing() && prediction.exact);
    all << fitText(answer.question, prediction);
    return text::unbroken(all.join(QLatin1Char(' ')));
}

QString whatIfEvidence(const WhatIfAnswer& answer)
{
    if (!answer.prediction)
        return {};
    const model::Prediction& prediction = *answer.prediction;
    if (answer.isFirstLook())
        return WhatIfText::tr("A first look, by %1: between what it lies is being worked out…")
            .arg(text::evidence(prediction.evidence));
    QStringList all{ WhatIfText::tr("%1: %2.").arg(text::sureness(prediction).toHtmlEscaped(),
        text::evidenceMeaning(prediction.evidence).toHtmlEscaped()) };
    all.front()[0] = all.front()[0].toUpper();
    const std::int64_t least = prediction.least.reservedBytesPeak, most = prediction.most.reservedBytesPeak;
    if (prediction.predicted && least != most)
        all << WhatIfText::tr("The reserved peak lies between %1 and %2.")
                   .arg(text::bytes(least), text::bytes(most));
    constexpr std::int64_t kMuch = 1000; // a part of the peak
    if (prediction.unknownBytes > prediction.recorded.requestedBytesPeak / kMuch)
        all << WhatIfText::tr("Of %1 it is not known how they change.")
                   .arg(text::bytes(prediction.unknownBytes));
    if (!prediction.reason.empty())
        all << WhatIfText::tr("%1.").arg(whatIfSentence(prediction.reason.why));
    return text::unbroken(all.join(QLatin1Char(' ')));
}

QString confirmedVerdict(const WhatIfAnswer& answer, const Confirmation& confirmed)
{
    const std::int64_t is = confirmed.changed.reservedBytesPeak;
    const model::Scenario& scenario = answer.question.scenario;
    QStringList all{ WhatIfText::tr("With %1 it reserves up to %2, %3.")
                         .arg(text::strong(text::scenario(scenario).toHtmlEscaped()), strongAmount(is),
                             comparedText(is, answer.recorded.reservedBytesPeak)) };
    if (confirmed.runsOutOfMemory)
        all << outOfMemoryText(answer.question, {}, false);
    all << fitText({ .question = answer.question,
        .leastBytes = is,
        .mostBytes = is,
        .isRefused = confirmed.runsOutOfMemory });
    return text::unbroken(all.join(QLatin1Char(' ')));
}

QString confirmedText(const Confirmation& confirmed)
{
    const std::int64_t is = confirmed.changed.reservedBytesPeak;
    QStringList all{ WhatIfText::tr("%1: it reserves up to %2, and requests up to %3.")
                         .arg(text::strong(confirmed.byCalls
                                      ? WhatIfText::tr("Confirmed by its recorded calls")
                                      : WhatIfText::tr("Confirmed by the program")),
                             strongAmount(is), text::bytes(confirmed.changed.requestedBytesPeak)) };
    if (confirmed.estimate) {
        const std::int64_t was = confirmed.estimate->reservedBytesPeak;
        const double percent = is == 0 ? 0 : static_cast<double>(was - is) / static_cast<double>(is) * 100;
        all << (was == is
                ? WhatIfText::tr("The estimate was the same.")
                : WhatIfText::tr("The estimate of %1 was off by %2 %, %3.")
                      .arg(text::bytes(was),
                          (percent > 0 ? QStringLiteral("+") : QString()) + QString::number(percent, 'f', 2),
                          was > is ? WhatIfText::tr("%1 more").arg(text::bytes(was - is))
                                   : WhatIfText::tr("%1 less").arg(text::bytes(is - was))));
    }
    if (!confirmed.note.isEmpty())
        all << WhatIfText::tr("But %1.").arg(confirmed.note.toHtmlEscaped());
    return text::unbroken(all.join(QLatin1Char(' ')));
}

EmptyNotice::Text whatIfAbsence(const Document& document)
{
    const auto device = document.device();
    if (!device)
        return noticeWithoutDevice(document);
    if (text::lacksSegments(document))
        return noticeWithoutSegments();
    if (document.isFollowing())
        return { WhatIfText::tr("What-if comes once the program has ended"),
            WhatIfText::tr(
                "A what-if replays all of a recording under other conditions. While one goes on, its "
                "peak is not known yet."),
            {}, {} };
    if (device->replay && device->replay->report)
        return {};
    if (device->replay)
        return { WhatIfText::tr("This recording cannot be replayed"), text::said(device->replay->refusal), {},
            {} };
    if (document.replaying())
        return { WhatIfText::tr("The allocator is replayed…"),
            WhatIfText::tr("What comes of another condition is told by comparing with that."), {}, {} };
    return { WhatIfText::tr("The replay was cancelled"),
        WhatIfText::tr("What comes of another condition is told by comparing with it."), {},
        WhatIfText::tr("Replay It") };
}

} // namespace strata::views
