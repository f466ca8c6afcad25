// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document.h"

#include "model/session/opener.h"
#include "model/session/user_file.h"

#include <QFile>
#include <QFileInfo>
#include <QThreadPool>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>

namespace strata::views {

namespace {

constexpr auto kProgressInterval = std::chrono::milliseconds(100);

} // namespace

std::vector<int> coloursOf(ColourTable& table, const model::GroupTable& groups,
    const std::vector<std::uint32_t>& largestFirst, std::shared_ptr<const NamedColours>& kept)
{
    std::vector<std::string_view> names;
    names.reserve(largestFirst.size());
    for (const std::uint32_t group : largestFirst)
        names.emplace_back(groups.label(group));
    const auto before = kept;
    kept = table.assign(model::infoOf(groups.grouping()).name, names, before.get());
    std::vector<int> colours(groups.count(), std::numeric_limits<int>::max());
    for (std::size_t place = 0; place < largestFirst.size(); ++place)
        colours[largestFirst[place]] = kept->colours[place];
    return colours;
}

std::shared_ptr<const model::GroupTable> DeviceData::groups(model::Grouping grouping) const
{
    for (const auto& known : { byLine, bySite })
        if (known && known->grouping() == grouping)
            return known;
    return std::make_shared<model::GroupTable>(*trace, grouping);
}

/// Between the tasks of one load and the document: hands calls over to the GUI thread for as long as the
/// document wants them. Shared by both sides; every member is safe from any thread.
class Document::Mailbox {
public:
    explicit Mailbox(Document& document)
        : m_document(&document)
    {
    }

    [[nodiscard]] std::stop_token stopToken() const { return m_stop.get_token(); }
    void requestStop() { m_stop.request_stop(); }

    /// No call that is posted later, or already queued, reaches the document.
    void close()
    {
        m_stop.request_stop();
        const std::scoped_lock lock(m_mutex);
        m_document = nullptr;
    }

    template <class Call> static void post(const std::shared_ptr<Mailbox>& self, Call call)
    {
        const std::scoped_lock lock(self->m_mutex);
        if (!self->m_document)
            return;
        QMetaObject::invokeMethod(
            self->m_document,
            [self, call = std::move(call)] {
                // Only the GUI thread closes a mailbox, so the pointer cannot go away during the call.
                if (Document* document = self->m_document)
                    call(*document);
            },
            Qt::QueuedConnection);
    }

    static void report(const std::shared_ptr<Mailbox>& self, const model::ProgressReport& report)
    {
        {
            const std::scoped_lock lock(self->m_mutex);
            const auto now = std::chrono::steady_clock::now();
            if (now - self->m_lastReport < kProgressInterval)
                return;
            self->m_lastReport = now;
        }
        post(self, [report](Document& document) {
            document.m_progress = report;
            Q_EMIT document.progressChanged();
        });
    }

private:
    std::mutex m_mutex;
    Document* m_document;
    std::stop_source m_stop;
    std::chrono::steady_clock::time_point m_lastReport;
};

namespace {

/// Derives what the pages share, in the order in which they need it, and calls `publish` after each part.
/// Returns early when stopped.
template <class Publish>
void derive(const std::shared_ptr<const model::Session>& session, const model::DeviceTrace& trace,
    const std::shared_ptr<ColourTable>& colours, const std::stop_token& stop, const Publish& publish)
{
    DeviceData data;
    data.colourTable = colours;
    data.session = session;
    data.trace = &trace;
    data.timeline = std::make_shared<model::DeviceTimeline>(trace);
    if (stop.stop_requested())
        return;
    data.byLine = std::make_shared<model::GroupTable>(trace, model::Grouping::Line);
    data.bySite = std::make_shared<model::GroupTable>(trace, model::Grouping::Site);
    data.summary
        = std::make_shared<model::DeviceSummary>(model::summarize(*session, *data.timeline, *data.byLine));
    if (stop.stop_requested())
        return;
    data.lineOrder = model::layerOrder(trace, data.timeline->live(), *data.byLine);
    data.lineRank = coloursOf(*colours, *data.byLine, data.lineOrder, data.lineColours);
    publish(std::make_shared<const DeviceData>(data));
    if (stop.stop_requested())
        return;
    data.strips = std::make_shared<model::StripLayout>(trace);
    auto index = std::make_shared<model::BlocksIndex>(
        trace, data.timeline->clock(), *data.strips, *data.byLine, stop);
    if (stop.stop_requested())
        return;
    data.blocksIndex = std::move(index);
    publish(std::make_shared<const DeviceData>(std::move(data)));
}

} // namespace

Document::Document(QObject* parent, std::shared_ptr<ColourTable> colours)
    : QObject(parent)
    , m_viewState(new ViewState(this))
    , m_colours(std::move(colours))
    , m_ownColours(!m_colours)
{
    connect(m_viewState, &ViewState::deviceChanged, this, &Document::deriveSelected);
    connect(m_viewState, &ViewState::userChanged, this, &Document::keepUser);
    m_viewState->setClocks([this](int device) {
        const auto found = m_devices.find(device);
        return found == m_devices.end() ? nullptr : &found->second->timeline->clock();
    });
    m_writer.setMaxThreadCount(1);
}

Document::~Document()
{
    abandonWork();
    release();
}

void Document::open(const QString& path, bool force)
{
    abandonWork();
    release();
    m_path = path;
    m_fileBytes = QFileInfo(path).size();
    m_error = {};
    m_progress = {};
    m_state = State::Loading;
    m_mailbox = std::make_shared<Mailbox>(*this);
    m_tasks = 1;
    if (m_ownColours)
        m_colours = std::make_shared<ColourTable>();
    Q_EMIT stateChanged();

    QThreadPool::globalInstance()->start([mailbox = m_mailbox, file = QFile::encodeName(path).toStdString(),
                                             force, colours = m_colours] {
        const model::Progress progress{ [&mailbox](const model::ProgressReport& report) {
                                           Mailbox::report(mailbox, report);
                                       },
            mailbox->stopToken() };
        try {
            auto opener = model::Opener::open(
                file, { .force = force, .notesFolder = model::UserFile::usualFolder() });
            if (auto found = opener ? opener->outline() : std::nullopt) {
                auto outline = std::make_shared<model::SessionOutline>(std::move(*found));
                Mailbox::post(mailbox, [outline, all = summariesOf(outline, *colours)](Document& document) {
                    document.outlined(outline, all);
                });
            }
            auto session = opener ? opener->all(progress) : model::Failure(opener.error());
            if (!session)
                Mailbox::post(
                    mailbox, [error = session.error()](Document& document) { document.failed(error); });
            else
                Mailbox::post(mailbox, [s = *session](Document& document) { document.loaded(s); });
        } catch (const std::bad_alloc&) {
            const model::Error error{ model::Error::Kind::Refused, "not enough memory to open it",
                "close other programs, or open it on a machine with more memory", file };
            Mailbox::post(mailbox, [error](Document& document) { document.failed(error); });
        }
        Mailbox::post(mailbox, [](Document& document) { document.taskEnded(); });
    });
}

void Document::cancel()
{
    if (m_state == State::Loading) {
        abandonWork();
        m_state = m_outline ? State::Stopped : State::Empty;
        Q_EMIT stateChanged();
        Q_EMIT progressChanged();
    } else if (m_mailbox) {
        m_mailbox->requestStop();
    }
}

std::shared_ptr<const DeviceData> Document::device() const
{
    const auto found = m_devices.find(m_viewState->device());
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
    return m_outline && m_outline->recording->user == m_session->recording().user
        && std::ranges::equal(m_outline->devices, m_session->devices(),
            [](const model::DeviceOutline& outline, const model::DeviceTrace& trace) {
                return outline.totals.device == trace.device() && outline.totals.events == trace.eventCount();
            });
}

void Document::loaded(std::shared_ptr<const model::Session> session)
{
    m_session = std::move(session);
    m_state = State::Ready;
    m_progress.stage = model::Stage::Indexing;
    m_progress.done = m_progress.total = 0;
    const model::DeviceTrace* trace = m_session->defaultDevice();
    m_keptUser = std::make_shared<const model::UserData>(m_session->recording().user);
    if (outlineFits())
        deriveSelected();
    else
        m_viewState->reset(trace ? trace->device() : 0, m_session->recording().user);
    Q_EMIT stateChanged();
}

void Document::failed(const model::Error& error)
{
    m_error = error;
    m_state = State::Failed;
    Q_EMIT stateChanged();
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
}

void Document::deriveSelected()
{
    const int device = m_viewState->device();
    const model::DeviceTrace* trace = m_session ? m_session->find(device) : nullptr;
    if (!trace || !m_deriving.insert(device).second)
        return;
    ++m_tasks;
    Q_EMIT progressChanged();
    QThreadPool::globalInstance()->start([mailbox = m_mailbox, session = m_session, trace,
                                             colours = m_colours] {
        try {
            derive(session, *trace, colours, mailbox->stopToken(),
                [&mailbox](std::shared_ptr<const DeviceData> data) {
                    Mailbox::post(
                        mailbox, [data = std::move(data)](Document& document) { document.publish(data); });
                });
        } catch (const std::bad_alloc&) {
            const model::Error error{ model::Error::Kind::Refused, "not enough memory to index it",
                "close other programs, or open it on a machine with more memory", session->recording().path };
            Mailbox::post(mailbox, [error](Document& document) { document.failed(error); });
        }
        Mailbox::post(mailbox, [](Document& document) { document.taskEnded(); });
    });
}

/// Writes what differs from what is kept, in a moment.
void Document::keepUser()
{
    const model::UserData& now = m_viewState->user();
    if (!m_session || !m_keptUser || now == *m_keptUser)
        return;
    const auto nowNs = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch())
                           .count();
    std::vector<model::UserChange> changes;
    for (const model::UserItem& item : now.items) {
        const model::UserItem* const kept = m_keptUser->find(item.key);
        if (kept && *kept == item)
            continue;
        changes.push_back({ item, false });
        changes.back().item.changedNs = nowNs; // an older state comes back by undo: it counts from now on
    }
    for (const model::UserItem& item : m_keptUser->items)
        if (!now.find(item.key)) {
            changes.push_back({ item, true });
            changes.back().item.changedNs = nowNs;
        }
    const auto before = std::exchange(m_keptUser, m_viewState->value().user);
    m_writer.start([before, mailbox = m_mailbox, file = QFile::encodeName(m_path).toStdString(), changes] {
        auto written = model::UserFile(file, model::UserFile::usualFolder()).append(changes);
        Mailbox::post(mailbox, [before, written = std::move(written)](Document& document) {
            if (!written)
                document.m_keptUser = before; // the next change writes it again
            document.userWritten(written);
        });
    });
}

void Document::userWritten(const model::Result<std::filesystem::path>& file)
{
    if (file)
        Q_EMIT userKept(QFile::decodeName(file->c_str()));
    else
        Q_EMIT userNotKept(file.error());
}

void Document::taskEnded()
{
    --m_tasks;
    Q_EMIT progressChanged();
}

void Document::abandonWork()
{
    if (m_mailbox)
        m_mailbox->close();
    m_mailbox.reset();
    m_tasks = 0;
    m_deriving.clear();
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
