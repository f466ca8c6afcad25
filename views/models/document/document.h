// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTimer>

#include "views/base/background_job.h"
#include "views/models/document/device_data.h"
#include "views/models/document/document_notes.h"
#include "views/models/document/document_replay.h"
#include "views/models/document/document_training.h"
#include "views/models/document/summary_data.h"
#include "views/models/document/view_state.h"

#include <map>
#include <memory>
#include <optional>

namespace strata::views {

/// A device of what is open, in figures. Valid until the document changes.
struct DeviceBrief {
    int device = 0;
    const model::Totals* totals = nullptr;
    std::span<const model::Finding> findings;
};

/// One opened file, or what a source tells of a program that runs: its session, what is derived from it, and
/// its ViewState. Loads and derives in background jobs, in the global pool; nothing here blocks the GUI
/// thread, the destructor included: it asks the work to stop and leaves what is left of it, and the release
/// of the columns, to the pool. It waits for one thing, changes of notes that are being written. GUI thread
/// only.
///
/// A session with digests that can be believed has an outline a moment after open(): its summaries, while the
/// rest loads. They are replaced by those of the events, device by device.
///
/// A session that grows is shown generation by generation:
///
///     show(1)  show(2) show(3)  show(4)            by the source, as often as it likes
///     |        |                |
///     derives 1          derives 3, from 1     derives 4, from 3      off the GUI thread, at most thirty
///     a second
///                 |                    |
///          grown(), deviceReady()    grown(), deviceReady()           session() and device() change at once
///
/// Of several that wait, only the newest is derived. What the user made of the document stays: device,
/// selection, filter, undo stack, notes.
class Document : public QObject {
    Q_OBJECT
public:
    enum class State {
        Empty,
        Loading,
        Ready,
        Failed,
        Stopped, ///< loading was cancelled once there was an outline, which stays
    };

    /// `colours` is that of the window; a document without one has colours of its own.
    explicit Document(QObject* parent = nullptr, std::shared_ptr<ColourTable> colours = nullptr);
    ~Document() override;

    /// Drops what is loaded and loads `path`; a load that is under way is cancelled. `force` reads even what
    /// unpacks to more than half of this machine's memory.
    void open(const QString& path, bool force = false);
    /// Drops what is loaded: a source follows, which shows what it knows from then on. Notes are kept with
    /// `path`, the file that it is written to; without one, for as long as the document is there.
    void follow(const QString& path = {});
    /// What a source knows now: after follow(), or a newer generation of what is Ready. It becomes session()
    /// once it is derived; the first one at once.
    void show(std::shared_ptr<const model::Session> generation);
    /// The source has ended: what was shown last is all there is. `why`: it has failed before it showed
    /// anything.
    void endFollowing(const std::optional<model::Error>& why = std::nullopt);
    /// Stops loading (the document is Empty again, or Stopped), or deriving (what is published stays).
    void cancel();

    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] QString path() const { return m_path; }
    /// For people: of the file without its folder, unless the source has named it.
    [[nodiscard]] QString name() const;
    void setName(const QString& name) { m_name = name; } ///< until open()
    [[nodiscard]] qint64 fileBytes() const { return m_fileBytes; }
    [[nodiscard]] const model::Error& error() const { return m_error; } ///< when Failed
    [[nodiscard]] model::ProgressReport progress() const { return m_progress; }
    [[nodiscard]] bool working() const; ///< loading, or deriving a device for the first time
    /// The allocator of the selected device is being replayed, or will be in a moment: DeviceData::replay
    /// says more soon.
    [[nodiscard]] bool replaying() const { return m_replay->running(); }
    [[nodiscard]] model::ProgressReport replayProgress() const { return m_replay->progress(); }
    void cancelReplay() { m_replay->cancel(); } ///< of the selected device; what is published stays
    void replayAgain() { m_replay->again(); } ///< where it was cancelled
    void leaveReplaysOut() { m_replay->leaveOut(); } ///< before it opens
    /// Steps, categories and leaks of the selected device are looked for: DeviceData::training says more
    /// soon.
    [[nodiscard]] bool analysing() const { return m_training->running(); }
    [[nodiscard]] model::ProgressReport analysisProgress() const { return m_training->progress(); }
    /// Of the selected device; what is published stays. Of a session that grows it begins again in a while.
    void cancelAnalysis() { m_training->cancel(); }
    void analyseAgain() { m_training->again(); } ///< where it was cancelled, or ran out of memory
    /// Categories of the user's own, for all devices; nullptr: none.
    [[nodiscard]] const std::shared_ptr<const model::CategoryRules>& rules() const
    {
        return m_training->rules();
    }
    /// Tries what stands in a text of rules, empty for none, instead of those that are kept with the
    /// recording (ViewState::user()); says what is wrong with it, and changes nothing then. Whenever others
    /// are kept, these take part again.
    [[nodiscard]] model::Result<void> tryRules(const std::string& json) { return m_training->tryRules(json); }
    void useKeptRules() { m_training->useKeptRules(); }
    /// Why those that are kept do not take part: a later version wrote them. Empty where they do.
    [[nodiscard]] const model::Error& rulesRefusal() const { return m_training->refusal(); }
    [[nodiscard]] bool isFollowing() const { return m_following; } ///< more may be shown
    [[nodiscard]] bool isBehind() const; ///< a newer generation of the device is to be seen in a moment
    [[nodiscard]] std::shared_ptr<const model::Session> session() const { return m_session; }
    [[nodiscard]] ViewState& viewState() { return *m_viewState; }

    /// Of the selected device; nullptr until it is ready.
    [[nodiscard]] std::shared_ptr<const DeviceData> device() const;
    [[nodiscard]] std::shared_ptr<const DeviceData> device(int number) const; ///< likewise, of any
    /// Of the selected device, from its digest until device() is there; nullptr where neither is.
    [[nodiscard]] std::shared_ptr<const SummaryData> summary() const;
    [[nodiscard]] bool hasOutline() const { return m_outline != nullptr; }
    /// Of the session, else of its outline; nullptr: neither is there.
    [[nodiscard]] const model::Recording* recording() const;
    [[nodiscard]] std::vector<DeviceBrief> devices() const; ///< of recording()

Q_SIGNALS:
    void stateChanged();
    /// At most ten times a second, and when working(), replaying() or analysing() changes.
    void progressChanged();
    void outlineReady(); ///< there is one: summary(), recording() and devices() say something
    void outlineWrong(int device); ///< what its digest said of that device is not what its events say
    void deviceReady(int device); ///< device() is there, or has more than before, or is of a newer generation
    void grown(); ///< session() is a newer generation; deviceReady() comes next
    void userKept(const QString& file); ///< a change of ViewState::user() is in that file now
    void userNotKept(const strata::model::Error& error); ///< it is not

private:
    void begin(const QString& path);
    void outlined(
        std::shared_ptr<model::SessionOutline> outline, std::vector<std::shared_ptr<const SummaryData>> all);
    void loaded(std::shared_ptr<const model::Session> session);
    [[nodiscard]] bool outlineFits() const;
    void failed(const model::Error& error);
    void ranOut(model::Error error, model::Sentence what);
    void publish(std::shared_ptr<const DeviceData> data);
    void deriveSelected();
    [[nodiscard]] DeviceTask taskOf(
        const std::shared_ptr<const model::Session>& session, const model::DeviceTrace* trace) const;
    void grow();
    void publishGrown(std::shared_ptr<const DeviceData> data);
    void publishReplay(const DeviceData& of, std::shared_ptr<const ReplayData> replay);
    void publishTraining(const DeviceData& of, std::shared_ptr<const TrainingData> training);
    void takeSession(std::shared_ptr<const model::Session> session);
    void abandonWork();
    void release();

    State m_state = State::Empty;
    QString m_path, m_name;
    qint64 m_fileBytes = 0;
    model::Error m_error;
    model::ProgressReport m_progress;
    std::shared_ptr<const model::Session> m_session;
    std::shared_ptr<const void> m_source; // of the generations of what is shown
    std::shared_ptr<const model::Session> m_newest; // of them; m_session once it is derived
    bool m_following = false;
    std::shared_ptr<const model::SessionOutline> m_outline; // until every device is derived
    std::map<int, std::shared_ptr<const SummaryData>> m_summaries;
    std::map<int, std::shared_ptr<const DeviceData>> m_devices;
    ViewState* m_viewState;
    const std::shared_ptr<ColourTable> m_windowColours; // or nullptr
    DocumentReplay* m_replay;
    DocumentTraining* m_training;
    DocumentNotes* m_notes;
    std::shared_ptr<DocumentColours> m_colours; // of what is open
    BackgroundJob m_loading;
    std::map<int, std::unique_ptr<BackgroundJob>> m_deriving; // of a device, at work or done
    BackgroundJob m_growing; // derives the newest generation
    QTimer m_pace; // until the next one may be derived
    QElapsedTimer m_sinceGrow; // the last one was begun
};

} // namespace strata::views
