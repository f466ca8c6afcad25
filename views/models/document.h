// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include "model/analysis/summary.h"
#include "model/session/session.h"
#include "model/timeline/blocks_picture.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/layer_order.h"
#include "views/base/background_job.h"
#include "views/models/summary_data.h"
#include "views/models/view_state.h"
#include "views/style/colour_table.h"

#include <map>
#include <memory>

namespace strata::views {

/// Everything derived from one device that the pages share. Immutable once published; the members marked
/// "later" come a moment after the rest and are announced by Document::deviceReady again.
struct DeviceData {
    std::shared_ptr<const model::Session> session; ///< keeps the trace alive
    const model::DeviceTrace* trace = nullptr;
    std::shared_ptr<const model::DeviceTimeline> timeline;
    std::shared_ptr<const model::GroupTable> byLine, bySite;
    std::shared_ptr<const model::DeviceSummary> summary;
    std::shared_ptr<const model::LayerOrder> lineOrder; ///< by line: the colours of the session
    std::vector<int> lineRank; ///< group -> its colour in the window, for Palette::group()
    std::shared_ptr<DocumentColours> colours; ///< for other groupings; keeps those of lineRank
    std::shared_ptr<const model::StripLayout> strips; ///< later
    std::shared_ptr<const model::BlocksIndex> blocksIndex; ///< later; coloured by line

    /// By line and by site what is here, else built: O(blocks).
    [[nodiscard]] std::shared_ptr<const model::GroupTable> groups(model::Grouping grouping) const;
};

/// The colours of the groups of a table of a device, whose share decides: group -> colour, for
/// Palette::group(). `colours` keeps them.
[[nodiscard]] std::vector<int> coloursOf(DocumentColours& colours, int device,
    const model::GroupTable& groups, const std::vector<std::uint32_t>& largestFirst);

/// A device of what is open, in figures. Valid until the document changes.
struct DeviceBrief {
    int device = 0;
    const model::Totals* totals = nullptr;
    std::span<const model::Finding> findings;
};

/// One opened file: its session, what is derived from it, and its ViewState. Loads and derives in background
/// jobs, in the global pool; nothing here blocks the GUI thread, the destructor
/// included: it asks the work to stop and leaves what is left of it, and the release of the columns, to the
/// pool. It waits for one thing, changes of notes that are being written. GUI thread only.
///
/// A session with digests that can be believed has an outline a moment after open(): its summaries, while the
/// rest loads. They are replaced by those of the events, device by device.
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
    /// Stops loading (the document is Empty again, or Stopped) or deriving (what is published stays).
    void cancel();

    [[nodiscard]] State state() const { return m_state; }
    [[nodiscard]] QString path() const { return m_path; }
    [[nodiscard]] qint64 fileBytes() const { return m_fileBytes; }
    [[nodiscard]] const model::Error& error() const { return m_error; } ///< when Failed
    [[nodiscard]] model::ProgressReport progress() const { return m_progress; }
    [[nodiscard]] bool working() const; ///< loading, or deriving a device
    [[nodiscard]] std::shared_ptr<const model::Session> session() const { return m_session; }
    [[nodiscard]] ViewState& viewState() { return *m_viewState; }

    /// Of the selected device; nullptr until it is ready.
    [[nodiscard]] std::shared_ptr<const DeviceData> device() const;
    /// Of the selected device, from its digest until device() is there; nullptr where neither is.
    [[nodiscard]] std::shared_ptr<const SummaryData> summary() const;
    [[nodiscard]] bool hasOutline() const { return m_outline != nullptr; }
    /// Of the session, else of its outline; nullptr: neither is there.
    [[nodiscard]] const model::Recording* recording() const;
    [[nodiscard]] std::vector<DeviceBrief> devices() const; ///< of recording()

Q_SIGNALS:
    void stateChanged();
    void progressChanged(); ///< at most ten times a second, and when working() changes
    void outlineReady(); ///< there is one: summary(), recording() and devices() say something
    void outlineWrong(int device); ///< what its digest said of that device is not what its events say
    void deviceReady(int device); ///< device() is there, or has more than before
    void userKept(const QString& file); ///< a change of ViewState::user() is in that file now
    void userNotKept(const strata::model::Error& error); ///< it is not

private:
    void outlined(
        std::shared_ptr<model::SessionOutline> outline, std::vector<std::shared_ptr<const SummaryData>> all);
    void loaded(std::shared_ptr<const model::Session> session);
    [[nodiscard]] bool outlineFits() const;
    void failed(const model::Error& error);
    void ranOut(model::Error error, model::Sentence what);
    void publish(std::shared_ptr<const DeviceData> data);
    void deriveSelected();
    void keepUser();
    void userWritten(const model::Result<std::filesystem::path>& file);
    void abandonWork();
    void release();

    State m_state = State::Empty;
    QString m_path;
    qint64 m_fileBytes = 0;
    model::Error m_error;
    model::ProgressReport m_progress;
    std::shared_ptr<const model::Session> m_session;
    std::shared_ptr<const model::SessionOutline> m_outline; // until every device is derived
    std::map<int, std::shared_ptr<const SummaryData>> m_summaries;
    std::map<int, std::shared_ptr<const DeviceData>> m_devices;
    ViewState* m_viewState;
    const std::shared_ptr<ColourTable> m_windowColours; // or nullptr
    std::shared_ptr<DocumentColours> m_colours; // of what is open
    std::shared_ptr<const model::UserData> m_keptUser; // as it is in files, or will be once m_writing is over
    BackgroundJob m_loading;
    std::map<int, std::unique_ptr<BackgroundJob>> m_deriving; // of a device, at work or done
    BackgroundJob m_writing{ Earlier::Keep, BackgroundJob::Thread::Own }; // changes of notes
};

} // namespace strata::views
