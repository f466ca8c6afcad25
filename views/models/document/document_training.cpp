// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a document that looks for steps, categories and leaks, once all of a device is indexed.
#include "views/models/document/document.h"

#include <QElapsedTimer>

#include <algorithm>

namespace strata::views {

namespace {

/// Of a session that grows, looking at all of it again takes at most a tenth of one core.
constexpr int kShareOfCore = 10;
constexpr int kShortestPauseMs = 1000;

} // namespace

bool Document::analysing() const
{
    const auto job = m_trainings.find(m_viewState->device());
    return job == m_trainings.end() ? working() : job->second->running();
}

model::ProgressReport Document::analysisProgress() const
{
    const auto job = m_trainings.find(m_viewState->device());
    return job == m_trainings.end() ? model::ProgressReport() : job->second->progress();
}

void Document::cancelAnalysis()
{
    const auto job = m_trainings.find(m_viewState->device());
    if (job == m_trainings.end() || !job->second->running())
        return;
    restAnalysis(job->first);
    job->second->stop();
}

/// After it came to nothing: until it is asked for again, or there is more to be looked at.
void Document::restAnalysis(int device)
{
    if (m_following)
        m_trainingPace.start(kShareOfCore * kShortestPauseMs);
    else
        m_notAnalysed.insert(device);
}

void Document::analyseAgain()
{
    if (analysing())
        return;
    m_notAnalysed.erase(m_viewState->device());
    m_trainings.erase(m_viewState->device());
    analyseSelected();
}

void Document::setRules(std::shared_ptr<const model::CategoryRules> rules)
{
    m_rules = std::move(rules);
    m_trainings.clear();
    m_notAnalysed.clear();
    analyseSelected();
}

void Document::keptRulesChanged()
{
    if (m_keptRules != m_viewState->user().rules())
        useKeptRules();
}

void Document::useKeptRules()
{
    m_keptRules = m_viewState->user().rules();
    m_rulesRefusal = {};
    if (const auto used = tryRules(m_keptRules); !used) {
        m_rulesRefusal = used.error();
        (void)tryRules({});
    }
}

model::Result<void> Document::tryRules(const std::string& json)
{
    if (json == m_triedRules)
        return {};
    std::shared_ptr<const model::CategoryRules> rules;
    if (!json.empty()) {
        auto read = model::CategoryRules::read(json);
        if (!read)
            return model::Failure(read.error());
        rules = std::make_shared<const model::CategoryRules>(std::move(*read));
    }
    m_triedRules = json;
    setRules(std::move(rules));
    return {};
}

/// What there is goes on being shown until there is something newer.
void Document::analyseSelected()
{
    const auto shown = device();
    if (m_state != State::Ready || !shown || !shown->blocksIndex
        || m_notAnalysed.contains(shown->trace->device()))
        return;
    auto& job = m_trainings[shown->trace->device()];
    const TrainingData* const known = shown->training.get();
    const bool isNews = !known || !known->complete || !known->isOf(*shown) || known->rules != m_rules;
    if (job && (job->running() || m_trainingPace.isActive() || !isNews))
        return;
    if (!job) {
        job = std::make_unique<BackgroundJob>(Earlier::Stop, BackgroundJob::Thread::Beside);
        connect(job.get(), &BackgroundJob::runningChanged, this, &Document::progressChanged);
        connect(job.get(), &BackgroundJob::progressChanged, this, &Document::progressChanged);
        connect(job.get(), &BackgroundJob::runningChanged, this, [this] {
            const auto now = device();
            if (now && now->training && now->training->complete && !now->training->isOf(*now))
                analyseSelected(); // more was recorded meanwhile
        });
        connect(job.get(), &BackgroundJob::failed, this,
            [this, device = shown->trace->device()](
                const model::Error& error) { trainingRanOut(device, error); });
    }
    job->start([this, shown, rules = m_rules](const JobContext& context) {
        QElapsedTimer took;
        took.start();
        analyseTraining(*shown, rules, context, [&](std::shared_ptr<const TrainingData> training) {
            context.deliver([this, shown, training = std::move(training), ms = took.elapsed()] {
                if (training->complete && m_following)
                    m_trainingPace.start(std::max(kShortestPauseMs, kShareOfCore * static_cast<int>(ms)));
                publishTraining(*shown, training);
            });
        });
    });
    Q_EMIT progressChanged();
}

/// What was found before stays.
void Document::trainingRanOut(int device, const model::Error& error)
{
    const auto shown = m_devices.find(device);
    if (shown == m_devices.end())
        return;
    restAnalysis(device);
    const DeviceData& now = *shown->second;
    auto found = std::make_shared<TrainingData>(now.training ? *now.training : TrainingData());
    if (!now.training) {
        found->session = now.session;
        found->trace = now.trace;
        found->rules = m_rules;
    }
    found->refusal = error;
    found->complete = true;
    publishTraining(now, std::move(found));
}

void Document::publishTraining(const DeviceData& of, std::shared_ptr<const TrainingData> training)
{
    const int number = of.trace->device();
    const auto known = m_devices.find(number);
    if (known == m_devices.end() || known->second->source != of.source)
        return; // another document
    const auto& before = known->second->training;
    if (!training->complete && before && (before->complete || !training->hasPartsOf(*before)))
        return; // what is shown stays until all of the newer one is there
    auto data = std::make_shared<DeviceData>(*known->second);
    data->training = std::move(training);
    known->second = std::move(data);
    Q_EMIT deviceReady(number);
}

} // namespace strata::views
