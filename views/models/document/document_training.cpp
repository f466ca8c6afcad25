// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/document_training.h"

#include "views/models/document/document.h"

#include <QElapsedTimer>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

/// Of a session that grows, looking at all of it again takes at most a tenth of one core.
constexpr int kShareOfCore = 10;
constexpr int kShortestPauseMs = 1000;

} // namespace

DocumentTraining::DocumentTraining(Document& document, Publish publish)
    : QObject(&document)
    , m_document(document)
    , m_publish(std::move(publish))
{
    m_pace.setSingleShot(true);
    connect(&m_pace, &QTimer::timeout, this, &DocumentTraining::analyseSelected);
}

void DocumentTraining::endFollowing()
{
    m_pace.stop();
    analyseSelected();
}

void DocumentTraining::clear()
{
    m_jobs.clear();
    m_resting.clear();
    m_rules.reset();
    m_keptRules.clear();
    m_triedRules.clear();
    m_refusal = {};
    m_pace.stop();
}

bool DocumentTraining::running() const
{
    const auto job = m_jobs.find(m_document.viewState().device());
    return job == m_jobs.end() ? m_document.working() : job->second->running();
}

model::ProgressReport DocumentTraining::progress() const
{
    const auto job = m_jobs.find(m_document.viewState().device());
    return job == m_jobs.end() ? model::ProgressReport() : job->second->progress();
}

void DocumentTraining::cancel()
{
    const auto job = m_jobs.find(m_document.viewState().device());
    if (job == m_jobs.end() || !job->second->running())
        return;
    rest(job->first);
    job->second->stop();
}

/// After it came to nothing: until it is asked for again, or there is more to be looked at.
void DocumentTraining::rest(int device)
{
    if (m_document.isFollowing())
        m_pace.start(kShareOfCore * kShortestPauseMs);
    else
        m_resting.insert(device);
}

void DocumentTraining::again()
{
    if (running())
        return;
    m_resting.erase(m_document.viewState().device());
    m_jobs.erase(m_document.viewState().device());
    analyseSelected();
}

void DocumentTraining::setRules(std::shared_ptr<const model::CategoryRules> rules)
{
    m_rules = std::move(rules);
    m_jobs.clear();
    m_resting.clear();
    analyseSelected();
}

void DocumentTraining::keptRulesChanged()
{
    if (m_keptRules != m_document.viewState().user().rules())
        useKeptRules();
}

void DocumentTraining::useKeptRules()
{
    m_keptRules = m_document.viewState().user().rules();
    m_refusal = {};
    if (const auto used = tryRules(m_keptRules); !used) {
        m_refusal = used.error();
        (void)tryRules({});
    }
}

model::Result<void> DocumentTraining::tryRules(const std::string& json)
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
void DocumentTraining::analyseSelected()
{
    const auto shown = m_document.device();
    if (m_document.state() != Document::State::Ready || !shown || !shown->blocksIndex
        || m_resting.contains(shown->trace->device()))
        return;
    auto& job = m_jobs[shown->trace->device()];
    const TrainingData* const known = shown->training.get();
    const bool isNews = !known || !known->complete || !known->isOf(*shown) || known->rules != m_rules;
    if (job && (job->running() || m_pace.isActive() || !isNews))
        return;
    if (!job) {
        job = std::make_unique<BackgroundJob>(Earlier::Stop, BackgroundJob::Thread::Beside);
        connect(job.get(), &BackgroundJob::runningChanged, &m_document, &Document::progressChanged);
        connect(job.get(), &BackgroundJob::progressChanged, &m_document, &Document::progressChanged);
        connect(job.get(), &BackgroundJob::runningChanged, this, [this] {
            const auto now = m_document.device();
            if (now && now->training && now->training->complete && !now->training->isOf(*now))
                analyseSelected(); // more was recorded meanwhile
        });
        connect(job.get(), &BackgroundJob::failed, this,
            [this, device = shown->trace->device()](const model::Error& error) { ranOut(device, error); });
    }
    job->start([this, shown, rules = m_rules](const JobContext& context) {
        QElapsedTimer took;
        took.start();
        analyseTraining(*shown, rules, context, [&](std::shared_ptr<const TrainingData> training) {
            context.deliver([this, shown, training = std::move(training), ms = took.elapsed()] {
                if (training->complete && m_document.isFollowing())
                    m_pace.start(std::max(kShortestPauseMs, kShareOfCore * static_cast<int>(ms)));
                m_publish(*shown, training);
            });
        });
    });
    Q_EMIT m_document.progressChanged();
}

/// What was found before stays.
void DocumentTraining::ranOut(int device, const model::Error& error)
{
    const auto shown = m_document.device(device);
    if (!shown)
        return;
    rest(device);
    const DeviceData& now = *shown;
    auto found = std::make_shared<TrainingData>(now.training ? *now.training : TrainingData());
    if (!now.training) {
        found->session = now.session;
        found->trace = now.trace;
        found->rules = m_rules;
    }
    found->refusal = error;
    found->complete = true;
    m_publish(now, std::move(found));
}

} // namespace strata::views
