// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/whatif/what_if_question.h"

#include "model/analysis/summary/recorded_card.h"
#include "model/session/opener.h"
#include "model/timeline/clock.h"
#include "model/whatif/evidence/batch_items.h"
#include "model/whatif/run/run_replay.h"
#include "model/wire/info.h"
#include "views/style/texts.h"

#include <QFile>
#include <QStringList>

#include <algorithm>
#include <utility>

namespace strata::views {

WhatIfRun WhatIfRun::of(const DeviceData& device)
{
    WhatIfRun run{ .session = device.session, .trace = device.trace };
    if (device.replay)
        run.report = device.replay->report;
    if (device.training && device.training->isOf(device) && device.training->categories) {
        run.steps = device.training->steps;
        run.categories = device.training->categories;
    }
    return run;
}

model::Result<std::shared_ptr<const WhatIfRun>> WhatIfRun::read(
    const QString& path, int device, const model::Progress& progress)
{
    const std::string file = QFile::encodeName(path).toStdString();
    const auto refused = [&](model::Error error) {
        error.where = file;
        return model::Failure(std::move(error));
    };
    auto opener = model::Opener::open(file, {});
    if (!opener)
        return refused(opener.error());
    auto session = opener->all(progress);
    if (!session)
        return refused(session.error());
    auto run = std::make_shared<WhatIfRun>();
    run->session = *session;
    run->trace = (*session)->find(device);
    if (run->trace == nullptr)
        return refused(
            { model::Error::Kind::NotFound, model::say("it has nothing of GPU %1", std::int64_t{ device }),
                model::say("give a recording of the same program on the same device"), {} });
    auto report = model::checkReplay(*run->trace, {}, progress);
    if (!report)
        return refused(report.error());
    run->report = std::make_shared<const model::ReplayReport>(std::move(*report));
    const model::Clock clock(*run->trace);
    auto steps = model::findTrainingSteps(*run->trace, clock, progress);
    if (!steps)
        return refused(steps.error());
    run->steps = std::make_shared<const model::TrainingSteps>(std::move(*steps));
    auto categories = model::Categories::of(*run->trace, clock, *run->steps, {}, progress);
    if (!categories)
        return refused(categories.error());
    run->categories = std::make_shared<const model::Categories>(std::move(*categories));
    run->tell(progress);
    return run;
}

void WhatIfRun::tell(const model::Progress& progress)
{
    toldItems = model::batchItemsOf(*trace, *steps, *categories);
    if (const auto found = model::addressOrderOf(recorded(std::nullopt), progress))
        order = *found;
    peaks = model::recordedPeaks(recorded(std::nullopt));
    if (const auto found = model::needAsRecorded(recorded(std::nullopt), progress))
        need = *found;
}

model::RecordedRun WhatIfRun::recorded(
    std::optional<std::int64_t> items, std::optional<std::int64_t> length) const
{
    return { .trace = trace,
        .report = report.get(),
        .steps = steps.get(),
        .categories = categories.get(),
        .batchItems = items,
        .sequenceLength = length,
        .order = order,
        .peaks = peaks,
        .need = need };
}

const model::Card* WhatIfRun::card() const
{
    const std::int64_t capacity = report ? report->capacityBytes.value_or(0) : 0;
    if (capacity <= 0)
        return nullptr;
    const auto& facts = trace->recording().facts;
    const auto name
        = facts.find(wire::deviceKey(wire::info::kDevice, trace->device(), wire::info::kDeviceName));
    const model::Card* const named
        = name != facts.end() ? model::cardOfDevice(name->second, capacity) : nullptr;
    return named != nullptr ? named : cardWith(capacity);
}

const model::Card* recordedCardOf(const WhatIfQuestion& question)
{
    if (question.recordings.empty())
        return nullptr;
    const model::DeviceTrace* const trace = question.recordings.front().run.trace;
    return model::recordedCard(trace->recording(), trace->device());
}

const model::Card* cardWith(std::int64_t capacityBytes)
{
    const auto has = [&](const model::Card& card) { return card.capacityBytes == capacityBytes; };
    const auto first = std::ranges::find_if(model::cards(), has);
    return std::ranges::count_if(model::cards(), has) == 1 ? &*first : nullptr;
}

std::vector<model::RecordedRun> WhatIfQuestion::runs() const
{
    std::vector<model::RecordedRun> runs;
    for (const WhatIfRecording& recording : recordings)
        runs.push_back(recording.recorded());
    return runs;
}

model::Result<model::Prediction> WhatIfQuestion::answer(const model::Progress& progress) const
{
    return model::predict(runs(), scenario, progress);
}

bool WhatIfQuestion::saysLengths() const
{
    return model::anyDoes(scenario.changes, model::Does::Sequence)
        && std::ranges::all_of(
            recordings, [](const WhatIfRecording& recording) { return recording.length.has_value(); });
}

QString WhatIfQuestion::key() const
{
    QString key = commandLine(); // which leaves out what it cannot be told
    for (const WhatIfRecording& recording : recordings)
        key += QStringLiteral(" %1 %2")
                   .arg(recording.items.value_or(0))
                   .arg(model::anyDoes(scenario.changes, model::Does::Sequence) ? recording.length.value_or(0)
                                                                                : 0);
    return key;
}

QString WhatIfQuestion::commandLine() const
{
    QStringList quoted{ QStringLiteral("strata") };
    for (const QString& word : words())
        quoted << text::shellQuoted(word);
    return quoted.join(QLatin1Char(' '));
}

QStringList WhatIfQuestion::words() const
{
    QStringList words{ QStringLiteral("whatif"), recordings.front().path, QStringLiteral("--device"),
        QString::number(recordings.front().run.trace->device()) };
    const auto add
        = [&](const char* option, const QString& value) { words << QLatin1String(option) << value; };
    for (const model::Change& change : scenario.changes)
        add("--change", text::utf8(change.text));
    if (scenario.settings)
        add("--set", text::utf8(*scenario.settings));
    if (scenario.capacityBytes)
        add("--capacity", QString::number(*scenario.capacityBytes));
    if (!plan.isEmpty())
        add("--plan", plan);
    if (scenario.changes.empty() && plan.isEmpty())
        return words;
    QStringList items, lengths;
    for (const WhatIfRecording& recording : recordings) {
        if (&recording != &recordings.front())
            add("--with", recording.path);
        if (recording.items)
            items << QString::number(*recording.items);
        if (recording.length)
            lengths << QString::number(*recording.length);
    }
    // It takes the items, or the lengths, of all, or of none.
    if (itemsSaid && items.size() == std::ssize(recordings))
        add("--batch-of", items.join(QLatin1Char(',')));
    if (saysLengths())
        add("--sequence-of", lengths.join(QLatin1Char(',')));
    return words;
}

} // namespace strata::views
