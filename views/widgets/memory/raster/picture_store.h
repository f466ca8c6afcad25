// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/background_job.h"
#include "views/widgets/memory/raster/blocks_raster.h"
#include "views/widgets/memory/raster/group_data.h"
#include "views/widgets/memory/raster/picture_mode.h"
#include "views/widgets/memory/raster/picture_scaler.h"

#include <array>

namespace strata::views {

/// Whose memory a picture shows, and which of its blocks.
struct PictureSubject {
    std::shared_ptr<const GroupData> groups;
    std::shared_ptr<const model::BlockMatcher> filter; ///< none: all blocks
    friend bool operator==(const PictureSubject&, const PictureSubject&) = default;
};

/// A stacked picture with the window that it was computed for.
struct StackedData {
    model::StackedPicture picture;
    XMapping x;
    PictureSubject subject; ///< whose it is
};

struct PictureRequest {
    PictureSubject subject;
    PictureMode mode = PictureMode::Stacked;
    XMapping x;
    YMapping y;
    RasterLook look;
    std::shared_ptr<const StackedData> known; ///< used again if it is of the same subject and window
};

struct PictureAnswer {
    Picture picture; ///< null if stopped
    std::shared_ptr<const StackedData> stacked; ///< in PictureMode::Stacked
};

/// Computes and draws one picture. Any thread.
[[nodiscard]] PictureAnswer makePicture(const PictureRequest& request, const std::stop_token& stop);

/// A trace without events has no time to stack over: its end state as one flat column, repeated.
[[nodiscard]] model::StackedPicture flatPicture(const PictureSubject& subject, const XMapping& x);

/// Keeps the pictures that the canvas shows up to date, off the GUI thread: the latest one of the view, and
/// one of everything, which shows through where a zoom out has uncovered what the latest one lacks. While a
/// new picture is on its way the old ones stay. GUI thread.
class PictureStore : public QObject {
    Q_OBJECT
public:
    explicit PictureStore(QObject* parent = nullptr);

    void setSubject(PictureSubject subject); ///< drops the pictures of another one
    /// A newer generation of the same: its pictures take the place of the old ones when they are there, and
    /// those that are on their way are shown until then.
    void goOn(PictureSubject subject, const RasterLook& look);
    void setLook(const RasterLook& look); ///< palette, highlight: old pictures stay until redrawn
    /// The canvas shows this now. Starts work unless the latest picture shows just that.
    void want(PictureMode mode, const XMapping& x, const YMapping& y, Span wholeX, Span wholeY);

    [[nodiscard]] const Picture& latest(PictureMode mode) const { return slot(mode).latest; }
    [[nodiscard]] const Picture& overview(PictureMode mode) const { return slot(mode).overview; }
    /// Of the latest stacked picture; may be nullptr.
    [[nodiscard]] const std::shared_ptr<const StackedData>& stacked() const { return m_stacked; }
    [[nodiscard]] bool busy() const { return m_view.running() || m_whole.running(); }
    [[nodiscard]] bool detailed() const { return m_detailed; } ///< latest() is of what was wanted last

Q_SIGNALS:
    void updated();
    void busyChanged();
    void failed(const strata::model::Error& error); ///< there is no picture of what is wanted

private:
    struct Slot {
        Picture latest, overview;
        std::uint64_t overviewLook = 0;
    };
    [[nodiscard]] Slot& slot(PictureMode mode) { return m_slots[static_cast<std::size_t>(mode)]; }
    [[nodiscard]] const Slot& slot(PictureMode mode) const { return m_slots[static_cast<std::size_t>(mode)]; }
    [[nodiscard]] bool tells(const StackedData& stacked) const;
    void start();
    void startOverview();
    void took(const PictureRequest& request, const PictureAnswer& answer, std::uint64_t look);

    PictureSubject m_subject;
    RasterLook m_look;
    std::uint64_t m_lookNumber = 0;
    std::uint64_t m_started = 0; // m_lookNumber of what was started last
    std::array<Slot, 2> m_slots;
    std::shared_ptr<const StackedData> m_stacked;
    PictureMode m_mode = PictureMode::Stacked;
    XMapping m_x;
    YMapping m_y;
    Span m_wholeX, m_wholeY;
    bool m_detailed = false;
    BackgroundJob m_view{ Earlier::Finish, BackgroundJob::Thread::Own };
    BackgroundJob m_whole{ Earlier::Stop, BackgroundJob::Thread::Own };
};

} // namespace strata::views
