// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/document.h"

#include "model/session/opener.h"
#include "model/session/user_file.h"

#include <QFile>
#include <QFileInfo>
#include <QThreadPool>

#include <algorithm>

namespace strata::views {

namespace {

/// Between two generations that are shown, at least; and so many times what it took to show the last one.
constexpr int kPaceMs = 28; // a recorder that is watched tells of what is new more often
constexpr int kShareOfTime = 4;

} // namespace

Document::Document(QObject* parent, std::shared_ptr<ColourTable> colours)
    : QObject(parent)
    , m_viewState(new ViewState(this))
    , m_windowColours(std::move(colours))
    , m_replay(new DocumentReplay(
          *this, [this](const DeviceData& of, auto told) { publishReplay(of, std::move(told)); }))
    , m_training(new DocumentTraining(
          *this, [this](const DeviceData& of, auto told) { publishTraining(of, std::move(told)); }))
    , m_notes(new DocumentNotes(*this))
{
    connect(m_viewState, &ViewState::deviceChanged, this, &Document::deriveSelected);
    connect(m_viewState, &ViewState::deviceChanged, this, &Document::grow);
    connect(m_viewState, &ViewState::deviceChanged, m_replay, &DocumentReplay::replaySelected);
    connect(m_viewState, &ViewState::deviceChanged, m_training, &DocumentTraining::analyseSelected);
    connect(m_viewState, &ViewState::userChanged, m_notes, &DocumentNotes::keep);
    connect(m_viewState, &ViewState::userChanged, m_training, &DocumentTraining::keptRulesChanged);
    m_viewState->setClocks([this](int device) {
        const auto found = m_devices.find(device);
        return found == m_devices.end() ? nullptr : &found->second->timeline->clock();
    });
    connect(&m_loading, &BackgroundJob::runningChanged, this, &Document::progressChanged);
    connect(&m_loading, &BackgroundJob::progressChanged, this, [this] {
        if (m_state != State::Loading)
            return;
        m_progress = m_loading.progress();
        Q_EMIT progressChanged();
    });
    connect(&m_loading, &BackgroundJob::failed, this,
        [this](const model::Error& error) { ranOut(error, model::say("not enough memory to open it")); });
    connect(&m_growing, &BackgroundJob::failed, this,
        [this](const model::Error& error) { ranOut(error, model::say("not enough memory to index it")); });
    m_pace.setSingleShot(true);
    connect(&m_pace, &QTimer::timeout, this, &Document::grow);
}

Document::~Document()
{
    blockSignals(true); // nobody is to hear of work that ends with the document
    abandonWork();
    release();
}

void Document::begin(const QString& path)
{
    abandonWork();
    release();
    m_path = path;
    m_fileBytes = QFileInfo(path).size();
    m_error = {};
    m_progress = {};
    m_state = State::Loading;
    m_colours = std::make_shared<DocumentColours>(m_windowColours);
    m_following = false;
    m_source = std::make_shared<int>();
}

QString Document::name() const
{
    return m_name.isEmpty() ? QFileInfo(m_path).fileName() : m_name;
}

void Document::open(const QString& path, bool force)
{
    m_name.clear();
    begin(path);
    m_loading.start([this, file = QFile::encodeName(path).toStdString(), force, colours = m_colours](
                        const JobContext& context) {
        auto opener
            = model::Opener::open(file, { .force = force, .notesFolder = model::UserFile::usualFolder() });
        if (auto found = opener ? opener->outline() : std::nullopt) {
            auto outline = std::make_shared<model::SessionOutline>(std::move(*found));
            context.deliver(
                [this, outline, all = summariesOf(outline, *colours)] { outlined(outline, all); });
        }
        auto session = opener ? opener->all(context.forModel()) : model::Failure(opener.error());
        if (session)
            context.deliver([this, s = *session] { loaded(s); });
        else
            context.deliver([this, error = session.error()] { failed(error); });
    });
    Q_EMIT stateChanged();
}

void Document::follow(const QString& path)
{
    begin(path);
    m_following = true;
    Q_EMIT stateChanged();
}

void Document::show(std::shared_ptr<const model::Session> generation)
{
    if (m_state == State::Loading && m_following)
        return loaded(std::move(generation));
    if (m_state != State::Ready)
        return;
    m_newest = std::move(generation);
    grow();
}

void Document::endFollowing(const std::optional<model::Error>& why)
{
    if (!std::exchange(m_following, false))
        return;
    if (m_state == State::Loading && why)
        return failed(*why);
    if (m_state == State::Loading) // it never told anything
        m_state = State::Empty;
    Q_EMIT stateChanged();
    m_replay->replaySelected();
    m_training->endFollowing();
}

void Document::cancel()
{
    if (m_state == State::Loading) {
        abandonWork();
        m_state = m_outline ? State::Stopped : State::Empty;
        Q_EMIT stateChanged();
        Q_EMIT progressChanged();
    } else {
        for (const auto& [device, job] : m_deriving)
            job->stop();
    }
}

bool Document::working() const
{
    return m_loading.running()
        || std::ranges::any_of(m_deriving, [](const auto& entry) { return entry.second->running(); });
}

bool Document::isBehind() const
{
    if (m_growing.running())
        return true;
    const auto shown = device();
    return m_newest && (shown ? shown->session != m_newest : m_session != m_newest);
}

std::shared_ptr<const DeviceData> Document::device() const
{
    return device(m_viewState->device());
}

std::shared_ptr<const DeviceData> Document::device(int number) const
{
    const auto found = m_devices.find(number);
    return found == m_devices.end() ? nullptr : found->second;
}

std::shared_ptr<const SummaryData> Document::summary() const
{
    const auto found = m_summaries.find(m_viewState->device());
    return found == m_summaries.end() ? nullptr : found->second;
}

const model::Recording* Document::recording() const
{
    if (m_session)
        return &m_session->recording();
    return m_outline ? m_outline->recording.get() : nullptr;
}

std::vector<DeviceBrief> Document::devices() const
{
    std::vector<DeviceBrief> all;
    if (m_session) {
        for (const model::DeviceTrace& trace : m_session->devices())
            all.push_back({ trace.device(), &trace.totals(), trace.findings() });
    } else if (m_outline) {
        for (const model::DeviceOutline& device : m_outline->devices)
            all.push_back({ device.totals.device, &device.totals, device.findings });
    }
    return all;
}

void Document::outlined(
    std::shared_ptr<model::SessionOutline> outline, std::vector<std::shared_ptr<const SummaryData>> all)
{
    m_outline = std::move(outline);
    for (std::shared_ptr<const SummaryData>& summary : all)
        m_summaries[summary->summary->device] = std::move(summary);
    const std::vector<DeviceBrief> briefs = devices();
    const auto highest = std::ranges::max_element(
        briefs, {}, [](const DeviceBrief& brief) { return brief.totals->reservedBytesPeak; });
    m_viewState->reset(highest == briefs.end() ? 0 : highest->device, m_outline->recording->user);
    Q_EMIT outlineReady();
}

/// Whether what was chosen meanwhile names devices and events of the session.
bool Document::outlineFits() const
{
    return m_outline
        && std::ranges::equal(m_outline->devices, m_session->devices(),
            [](const model::DeviceOutline& outline, const model::DeviceTrace& trace) {
                return outline.totals.device == trace.device() && outline.totals.events == trace.eventCount();
            });
}

void Document::loaded(std::shared_ptr<const model::Session> session)
{
    m_session = m_newest = std::move(session);
    m_state = State::Ready;
    m_progress.stage = model::Stage::Indexing;
    m_progress.done = m_progress.total = 0;
    const model::DeviceTrace* trace = m_session->defaultDevice();
    m_notes->read(m_session->recording().user);
    if (outlineFits()) {
        m_viewState->takeUser(m_session->recording().user); // what stands among the events too
        deriveSelected();
    } else {
        m_viewState->reset(trace ? trace->device() : 0, m_session->recording().user);
    }
    Q_EMIT stateChanged();
}

void Document::failed(const model::Error& error)
{
    m_error = error;
    m_state = State::Failed;
    Q_EMIT stateChanged();
}

/// `error` of a job that wanted more memory than there is; `what` says for what.
void Document::ranOut(model::Error error, model::Sentence what)
{
    error.what = std::move(what);
    error.where = QFile::encodeName(m_path).toStdString();
    failed(error);
}

void Document::publish(std::shared_ptr<const DeviceData> data)
{
    const int device = data->trace->device();
    bool wrong = false;
    const auto known = m_devices.find(device);
    if (known == m_devices.end() || known->second->summary != data->summary) {
        auto summary = summaryOf(*data);
        const auto told = m_summaries.find(device);
        wrong = m_outline && (told == m_summaries.end() || !sameFigures(*told->second, *summary));
        m_summaries[device] = std::move(summary);
    }
    m_devices[device] = std::move(data);
    Q_EMIT deviceReady(device);
    m_viewState->clocksChanged();
    if (wrong)
        Q_EMIT outlineWrong(device);
    if (m_devices.size() == m_session->devices().size())
        m_outline.reset(); // its last user, the page, has let go of it
    m_replay->replaySelected();
    m_training->analyseSelected();
}

DeviceTask Document::taskOf(
    const std::shared_ptr<const model::Session>& session, const model::DeviceTrace* trace) const
{
    const auto known = m_devices.find(trace->device());
    const bool isComplete = known != m_devices.end() && known->second->blocksIndex;
    return { session, trace, m_source, m_colours, isComplete ? known->second : nullptr };
}

void Document::deriveSelected()
{
    const int device = m_viewState->device();
    const model::DeviceTrace* trace = m_session ? m_session->find(device) : nullptr;
    if (!trace || m_deriving.contains(device))
        return;
    auto& job = m_deriving[device] = std::make_unique<BackgroundJob>();
    connect(job.get(), &BackgroundJob::runningChanged, this, &Document::progressChanged);
    connect(job.get(), &BackgroundJob::runningChanged, this, &Document::grow);
    connect(job.get(), &BackgroundJob::failed, this,
        [this](const model::Error& error) { ranOut(error, model::say("not enough memory to index it")); });
    job->start([this, task = taskOf(m_session, trace)](const JobContext& context) {
        deriveDevice(task, context.stop(), [&](std::shared_ptr<const DeviceData> data) {
            context.deliver([this, data = std::move(data)] { publish(data); });
        });
    });
}

/// Derives the newest generation for the selected device, unless it is shown already or its turn has not
/// come.
void Document::grow()
{
    if (m_state != State::Ready || m_growing.running() || m_pace.isActive() || !isBehind())
        return;
    const int device = m_viewState->device();
    const model::DeviceTrace* const trace = m_newest->find(device);
    const auto first = m_deriving.find(device);
    if (!trace || first == m_deriving.end()) { // there was no device yet, or this one is not in it
        takeSession(m_newest);
        if (const model::DeviceTrace* const chosen = m_session->defaultDevice(); chosen && m_deriving.empty())
            m_viewState->reset(chosen->device(), m_viewState->user());
        m_pace.start(kPaceMs);
        return;
    }
    if (first->second->running())
        return; // what comes of it is gone on from
    m_sinceGrow.start();
    m_growing.start(
        [task = taskOf(m_newest, trace)](const JobContext& context) {
            std::shared_ptr<const DeviceData> complete;
            deriveDevice(task, context.stop(),
                [&](std::shared_ptr<const DeviceData> data) { complete = std::move(data); });
            return complete;
        },
        [this](std::shared_ptr<const DeviceData> data) { publishGrown(std::move(data)); });
}

void Document::takeSession(std::shared_ptr<const model::Session> session)
{
    const auto before = std::exchange(m_session, std::move(session));
    if (const model::UserData& user = m_session->recording().user; user != before->recording().user)
        m_notes->take(user);
    Q_EMIT grown();
}

void Document::publishGrown(std::shared_ptr<const DeviceData> data)
{
    QElapsedTimer shown;
    shown.start();
    if (data->session != m_session)
        takeSession(data->session);
    const int device = data->trace->device();
    m_summaries[device] = summaryOf(*data);
    std::shared_ptr<const DeviceData>& known = m_devices[device];
    if (known && known->training) {
        auto kept = std::make_shared<DeviceData>(*data);
        kept->training = known->training;
        data = std::move(kept);
    }
    known = std::move(data);
    m_replay->forget(device); // of an earlier generation
    Q_EMIT deviceReady(device);
    m_viewState->clocksChanged();
    m_replay->replaySelected();
    m_training->analyseSelected();
    const auto derived = static_cast<int>(m_sinceGrow.elapsed()); // counts: it is the rate that is bounded
    m_pace.start(std::max({ kPaceMs - derived, kShareOfTime * static_cast<int>(shown.elapsed()), 0 }));
}

void Document::publishReplay(const DeviceData& of, std::shared_ptr<const ReplayData> replay)
{
    const int number = of.trace->device();
    const auto known = m_devices.find(number);
    if (known == m_devices.end() || known->second->trace != of.trace)
        return; // a newer generation is there
    auto data = std::make_shared<DeviceData>(*known->second);
    if (replay->summary && data->summary != replay->summary)
        data->summary = replay->summary;
    data->replay = std::move(replay);
    m_summaries[number] = summaryOf(*data);
    known->second = std::move(data);
    Q_EMIT deviceReady(number);
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

void Document::abandonWork()
{
    m_loading.cancel();
    m_deriving.clear();
    m_replay->clear();
    m_training->clear();
    m_growing.cancel();
    m_pace.stop();
    m_newest.reset();
    m_notes->leave();
}

void Document::release()
{
    if (!m_session && !m_outline)
        return;
    // Giving back gigabytes of columns takes longer than a frame.
    QThreadPool::globalInstance()->start(
        [session = std::exchange(m_session, nullptr), devices = std::exchange(m_devices, {}),
            outline = std::exchange(m_outline, nullptr),
            summaries = std::exchange(m_summaries, {})]() mutable {
            summaries.clear();
            outline.reset();
            devices.clear();
            session.reset();
        });
}

} // namespace strata::views
