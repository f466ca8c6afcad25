// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/whatif/what_if.h"

#include "model/whatif/run/run_replay.h"

#include <QFileInfo>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr int kPatienceMs = 150; // an answer that takes longer gives way to what is asked next
constexpr int kQuickMs = 60; // a whole answer that takes longer has a first look before it
constexpr model::EventIndex kManyEvents = 10'000; // of which answers may well take long
constexpr std::size_t kMostKept = 1'000; // answers
constexpr std::size_t kMostKeptBytes = std::size_t{ 256 } << 20; // of their runs

/// A confirmation runs in another folder than this program.
QString absolute(const QString& path)
{
    return path.isEmpty() ? path : QFileInfo(path).absoluteFilePath();
}

std::shared_ptr<const WhatIfAnswer> answerOf(const WhatIfQuestion& question, const model::Progress& progress)
{
    auto prediction = question.answer(progress);
    const WhatIfRecording& shown = question.recordings.front();
    const model::PeakFigures recorded
        = prediction ? prediction->recorded : model::recordedPeaks(shown.recorded());
    return std::make_shared<const WhatIfAnswer>(WhatIfAnswer{ question, recorded, std::move(prediction) });
}

/// Nearly all of what it takes: the run that its curves are drawn of.
std::size_t bytesOf(const WhatIfAnswer& answer)
{
    const model::ProgramRun* run = answer.prediction ? answer.prediction->run.get() : nullptr;
    return run == nullptr ? 0
                          : run->blocks.size() * sizeof(model::ProgramRun::Block)
            + run->asks.size() * sizeof(model::ProgramRun::Ask);
}

/// What a row of the table shows of it, on top of `asked`.
WhatIfAlternative alternativeOf(
    const model::Scenario& change, const WhatIfAnswer& answer, const WhatIfAnswer& asked)
{
    const model::Scenario& all = answer.question.scenario;
    return { model::answeredAlternative(change, all, answer.prediction, asked.question.scenario,
                 asked.prediction ? &*asked.prediction : nullptr),
        all };
}

bool wasCancelled(const WhatIfAnswer& answer)
{
    return !answer.prediction && answer.prediction.error().kind == model::Error::Kind::Cancelled;
}

} // namespace

WhatIf::WhatIf(QObject* parent)
    : QObject(parent)
{
    for (const BackgroundJob* job : { &m_predicting, &m_telling, &m_reading, &m_trying })
        connect(job, &BackgroundJob::runningChanged, this, &WhatIf::workingChanged);
}

void WhatIf::setDevice(std::shared_ptr<const DeviceData> device, const QString& path)
{
    const bool sameTrace = m_device && device && device->trace == m_device->trace;
    const bool sameSource
        = m_device && device && (device->session == m_device->session || device->follows(*m_device));
    m_device = std::move(device);
    m_path = absolute(path);
    const WhatIfRun run = m_device ? WhatIfRun::of(*m_device) : WhatIfRun();
    const bool sameAnswers = sameTrace && run.report == m_run.report && run.categories == m_run.categories;
    if (!sameTrace) {
        m_toldItems.reset();
        m_answer.reset();
        m_answered.clear();
        m_isSlow = m_device && m_device->trace->eventCount() > kManyEvents;
        if (!sameSource) {
            m_saidItems.reset();
            m_saidLength.reset();
        }
        m_reading.cancel();
        if (sameSource) // what they have of this device is to be read
            for (Other& other : m_others) {
                other.run.reset();
                other.refusal.reset();
            }
        else
            m_others.clear();
    }
    if (!sameAnswers) {
        m_predicting.cancel();
        m_trying.cancel();
        m_asked.clear();
        m_answered.clear();
        m_tried.clear();
        m_kept.clear();
        m_keptBytes = 0;
        m_alternatives.clear();
        m_triedOn.reset();
        if (run.categories != m_run.categories) {
            m_telling.cancel();
            m_itemsAsked = m_itemsTold = false;
        }
        m_run = run;
        m_singles.reset();
    }
    if (!sameTrace) {
        Q_EMIT answerChanged();
        Q_EMIT itemsChanged();
        Q_EMIT othersChanged();
    }
    if (!sameAnswers)
        Q_EMIT alternativesChanged();
    tellItems();
    readNext();
    ask();
    tryAlternatives();
}

WhatIf::Ready WhatIf::ready() const
{
    if (!m_run.report)
        return Ready::Nothing;
    return m_run.categories && m_itemsTold ? Ready::All : Ready::Settings;
}

void WhatIf::setScenario(model::Scenario scenario)
{
    m_scenario = std::move(scenario);
    ask();
    tryAlternatives();
}

void WhatIf::setSaidItems(std::optional<std::int64_t> items)
{
    if (std::exchange(m_saidItems, items) != items)
        sizesWereSaid();
}

void WhatIf::setSaidLength(std::optional<std::int64_t> length)
{
    if (std::exchange(m_saidLength, length) != length)
        sizesWereSaid();
}

void WhatIf::sizesWereSaid()
{
    m_singles.reset();
    Q_EMIT itemsChanged();
    ask();
    tryAlternatives();
}

void WhatIf::addOther(const QString& relative)
{
    const QString path = absolute(relative);
    if (std::ranges::find(m_others, path, &Other::path) != m_others.end())
        return;
    m_others.push_back({ .path = path, .saidItems = {}, .saidLength = {}, .run = {}, .refusal = {} });
    readNext();
    Q_EMIT othersChanged();
    ask();
}

void WhatIf::removeOther(std::size_t place)
{
    if (place >= m_others.size())
        return;
    const Other gone = m_others[place];
    m_others.erase(m_others.begin() + static_cast<std::ptrdiff_t>(place));
    if (!gone.run && !gone.refusal) // it may be what is read
        m_reading.cancel();
    readNext();
    Q_EMIT othersChanged();
    ask();
    tryAlternatives();
}

void WhatIf::setOtherItems(std::size_t place, std::optional<std::int64_t> items)
{
    sayOther(place, &Other::saidItems, items);
}

void WhatIf::setOtherLength(std::size_t place, std::optional<std::int64_t> length)
{
    sayOther(place, &Other::saidLength, length);
}

void WhatIf::sayOther(
    std::size_t place, std::optional<std::int64_t> Other::*said, std::optional<std::int64_t> number)
{
    if (place >= m_others.size() || m_others[place].*said == number)
        return;
    m_others[place].*said = number;
    Q_EMIT othersChanged();
    ask();
    tryAlternatives();
}

void WhatIf::useOthers(bool use)
{
    if (std::exchange(m_usesOthers, use) == use)
        return;
    ask();
    tryAlternatives();
}

bool WhatIf::working() const
{
    if (m_predicting.running() || m_telling.running())
        return true;
    const auto now = question();
    return now && m_reading.running() && waits(*now);
}

std::optional<WhatIfQuestion> WhatIf::question() const
{
    return m_run.report ? std::optional(questionOf(m_scenario)) : std::nullopt;
}

std::optional<WhatIfQuestion> WhatIf::planQuestion() const
{
    const auto isRead = [](const Other& other) { return !other.run && !other.refusal; };
    if (ready() != Ready::All || (m_usesOthers && std::ranges::any_of(m_others, isRead)))
        return std::nullopt;
    return questionOf(m_scenario, true);
}

bool WhatIf::asksSequence() const
{
    return model::anyDoes(m_scenario.changes, model::Does::Sequence);
}

bool WhatIf::takesPart(const Other& other, const model::Scenario& scenario) const
{
    return model::anyDoes(scenario.changes, model::Does::Sequence) || !m_saidLength || !other.saidLength
        || other.saidLength == m_saidLength;
}

WhatIfQuestion WhatIf::questionOf(const model::Scenario& scenario, bool plans) const
{
    WhatIfQuestion question{ .recordings = { { m_path, m_run, items(), m_saidLength } },
        .itemsSaid = m_saidItems.has_value(),
        .scenario = scenario };
    if ((scenario.changes.empty() && !plans) || !m_usesOthers)
        return question;
    for (const Other& other : m_others)
        if (other.run && takesPart(other, scenario)) {
            question.recordings.push_back({ other.path, *other.run, other.items(), other.saidLength });
            question.itemsSaid = question.itemsSaid || other.saidItems;
        }
    return question;
}

/// Something that takes part is not known yet.
bool WhatIf::waits(const WhatIfQuestion& question) const
{
    if (question.scenario.changes.empty())
        return false;
    const auto isRead = [](const Other& other) { return !other.run && !other.refusal; };
    return ready() != Ready::All || (m_usesOthers && std::ranges::any_of(m_others, isRead));
}

void WhatIf::ask()
{
    const auto now = question();
    if (!now || waits(*now)) {
        m_predicting.cancel();
        m_asked.clear();
        return Q_EMIT workingChanged();
    }
    const QString key = now->key();
    if (key == m_asked && m_predicting.running())
        return;
    if (const auto kept = m_kept.find(key); kept != m_kept.end() || key == m_answered) {
        m_predicting.cancel();
        m_asked.clear();
        if (key != m_answered)
            take(key, kept->second);
        return;
    }
    if (m_predicting.running() && (m_hasLooked || m_since.elapsed() > kPatienceMs))
        m_predicting.cancel();
    if (!m_predicting.running()) {
        m_since.start();
        m_hasLooked = false;
    }
    m_asked = key;
    m_predicting.start(
        [this, key, question = *now, looks = m_isSlow](const JobContext& context) {
            if (looks) {
                WhatIfQuestion first = question;
                first.scenario.firstLook = true;
                auto look = answerOf(first, context.forModel());
                if (look->prediction)
                    context.deliver([this, key, look] { takeLook(key, look); });
            }
            QElapsedTimer took;
            took.start();
            auto answer = answerOf(question, context.forModel());
            return std::pair(std::move(answer), took.elapsed());
        },
        [this, key](std::pair<std::shared_ptr<const WhatIfAnswer>, qint64> came) {
            m_since.restart(); // of the one that waited for it
            m_hasLooked = false;
            if (wasCancelled(*came.first))
                return;
            m_isSlow = came.second > kQuickMs;
            take(key, std::move(came.first));
        });
}

/// What is asked meanwhile does not wait for the bounds of this.
void WhatIf::takeLook(const QString& key, std::shared_ptr<const WhatIfAnswer> look)
{
    m_hasLooked = true;
    m_answer = std::move(look);
    m_answered.clear();
    Q_EMIT answerChanged();
    if (m_asked == key)
        return;
    m_predicting.cancel();
    m_asked.clear();
    ask();
}

void WhatIf::take(const QString& key, std::shared_ptr<const WhatIfAnswer> answer)
{
    keep(key, answer);
    m_answer = std::move(answer);
    m_answered = key;
    if (m_asked == key)
        m_asked.clear();
    Q_EMIT answerChanged();
    tryAlternatives(); // on top of it
}

void WhatIf::keep(const QString& key, const std::shared_ptr<const WhatIfAnswer>& answer)
{
    if (const auto old = m_kept.find(key); old != m_kept.end()) {
        m_keptBytes -= bytesOf(*old->second);
        m_kept.erase(old);
    }
    if (m_kept.size() >= kMostKept || m_keptBytes + bytesOf(*answer) > kMostKeptBytes) {
        m_kept.clear();
        m_keptBytes = 0;
    }
    m_keptBytes += bytesOf(*answer);
    m_kept[key] = answer;
}

void WhatIf::tellItems()
{
    if (!m_run.report || !m_run.categories || std::exchange(m_itemsAsked, true))
        return;
    m_telling.start(
        [run = m_run](const JobContext& context) mutable {
            run.tell(context.forModel());
            return run;
        },
        [this](const WhatIfRun& told) {
            m_toldItems = told.toldItems;
            m_run.order = told.order;
            m_run.peaks = told.peaks;
            m_run.need = told.need;
            m_itemsTold = true;
            m_singles.reset();
            Q_EMIT itemsChanged();
            ask();
            tryAlternatives();
        });
}

void WhatIf::readNext()
{
    if (m_reading.running() || !m_device)
        return;
    const auto next
        = std::ranges::find_if(m_others, [](const Other& other) { return !other.run && !other.refusal; });
    if (next == m_others.end())
        return;
    m_reading.start(
        [path = next->path, device = m_device->trace->device()](
            const JobContext& context) { return WhatIfRun::read(path, device, context.forModel()); },
        [this, path = next->path](model::Result<std::shared_ptr<const WhatIfRun>> read) {
            const auto other = std::ranges::find(m_others, path, &Other::path);
            if (other == m_others.end())
                return;
            if (read)
                other->run = std::move(*read);
            else
                other->refusal = read.error();
            // The job counts as running until this returns.
            QMetaObject::invokeMethod(
                this,
                [this] {
                    readNext();
                    Q_EMIT workingChanged();
                },
                Qt::QueuedConnection);
            Q_EMIT othersChanged();
            ask();
            tryAlternatives();
        });
}

/// What was tried of another question stays until this one is answered; nobody waits for more of it.
void WhatIf::tryAlternatives()
{
    const auto now = question();
    if (!now)
        return;
    const bool asks = !m_scenario.changesNothing();
    if (asks && (waits(*now) || m_answered != now->key())) {
        if (m_trying.running())
            m_tried.clear();
        return m_trying.cancel();
    }
    // Without an answer to what is asked nothing has one on top of it.
    const std::shared_ptr<const WhatIfAnswer> on = asks && m_answer->prediction ? m_answer : nullptr;
    model::RecordedRun run = m_run.recorded(items());
    if (ready() != Ready::All)
        run.steps = nullptr; // batches follow once all of it is known
    if (!m_singles)
        m_singles = model::alternativesTo(run);
    struct Asked {
        model::Scenario change;
        QString key;
        WhatIfQuestion question;
    };
    std::vector<Asked> all;
    QString tried = (on ? m_answered : QString()) + QLatin1Char('\n');
    for (model::Alternative& one :
        model::alternativesOnTop(run, *m_singles, on ? m_scenario : model::Scenario())) {
        WhatIfQuestion question = questionOf(one.all);
        if (waits(question))
            continue;
        QString key = question.key();
        tried += key + QLatin1Char('\n');
        all.push_back({ std::move(one.change), std::move(key), std::move(question) });
    }
    m_triedOn = on;
    if (std::exchange(m_tried, tried) == tried)
        return;
    m_trying.cancel();
    m_alternatives.clear();
    const WhatIfQuestion nothing = questionOf({});
    const auto keptNothing = m_kept.find(nothing.key());
    const std::shared_ptr<const WhatIfAnswer> known = on ? on
        : keptNothing != m_kept.end()                    ? keptNothing->second
                                                         : nullptr;
    std::erase_if(all, [&](const Asked& one) {
        const auto kept = known ? m_kept.find(one.key) : m_kept.end();
        if (kept != m_kept.end())
            m_alternatives.push_back(alternativeOf(one.change, *kept->second, *known));
        return kept != m_kept.end();
    });
    Q_EMIT alternativesChanged();
    if (all.empty())
        return;
    m_trying.start([this, all = std::move(all), nothing, known](const JobContext& context) {
        const auto before = known ? known : answerOf(nothing, context.forModel());
        if (wasCancelled(*before))
            return;
        for (const Asked& one : all) {
            auto answer = answerOf(one.question, context.forModel());
            if (wasCancelled(*answer))
                return;
            context.deliver([this, change = one.change, key = one.key, answer, before] {
                keep(key, answer);
                m_alternatives.push_back(alternativeOf(change, *answer, *before));
                Q_EMIT alternativesChanged();
            });
        }
    });
}

} // namespace strata::views
