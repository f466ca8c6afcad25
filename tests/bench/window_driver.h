// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QTimer>

#include "views/contents/document/document_content.h"
#include "views/shell/main_window.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace strata::bench {

/// What was measured of one kind of input, in milliseconds: one item an input.
struct Samples {
    std::vector<double> wall; ///< from when the input was due to when its frame was complete
    std::vector<double> cpu; ///< processor time of the GUI thread from the input to its frame
};

/// Prints one line: count, median, 99th percentile and maximum, and the bar (0: none) that the percentile of
/// the wall time must not exceed. False if it does.
bool report(const std::string& what, const Samples& samples, double barMs);

/// Times what the event loop does, and notices complete frames: a window's frame is complete when its update
/// request has been served.
class Application : public QApplication {
public:
    /// With the resources and threads of the program; without a display it paints off screen.
    Application(int& argc, char** argv);

    bool notify(QObject* receiver, QEvent* event) override;
    /// From now on waits for a frame in which the widget, or a part of it, is painted.
    void watchPaint(const QWidget& widget);
    struct Moment {
        double ms, cpuMs; ///< on nowMs() and threadMs()
    };
    [[nodiscard]] const std::optional<Moment>& frame() const { return m_frame; } ///< when it was complete
    [[nodiscard]] double nowMs() const { return static_cast<double>(m_clock.nsecsElapsed()) / 1e6; }
    [[nodiscard]] static double threadMs(); ///< processor time of the calling thread

    /// From now on a timer beats every millisecond in the GUI thread.
    void watchForStalls();
    struct Stalls {
        double longestMs = 0; ///< between two beats
        double longestWorkMs = 0; ///< the most that the GUI thread itself computed between two beats
        double longestEventMs = 0; ///< processor time of the one event that took longest
        std::string longestEvent; ///< which
        std::vector<double> framesMs; ///< what each frame of a window took to paint
    };
    [[nodiscard]] Stalls endWatch();

private:
    void noteFrame(QEvent::Type served);

    QElapsedTimer m_clock;
    QTimer m_heart;
    Stalls m_stalls;
    double m_lastBeat = 0, m_lastBeatCpu = 0;
    bool m_watching = false;
    const QWidget* m_watched = nullptr;
    bool m_painted = false;
    std::optional<Moment> m_frame;
    int m_depth = 0;
};

/// Sends inputs to the window as a screen of 60 Hz and a hurried user would, one every 16.7 ms, and waits for
/// their frames. An input's time counts from when it was due: what the event loop is busy with then counts
/// too. GUI thread.
class Driver {
public:
    Driver(Application& application, views::MainWindow& window)
        : m_application(application)
        , m_window(window)
    {
    }

    [[nodiscard]] views::MainWindow& window() const { return m_window; }
    /// The active document, and the view of it.
    [[nodiscard]] views::Document& document() const { return pane().document(); }
    [[nodiscard]] views::DocumentView& view() const { return pane().view(); }
    [[nodiscard]] views::Page& show(const QString& page); ///< makes it current and waits until it is quiet

    /// Until the window's frame is complete in which `watched` was painted.
    void frame(QWidget& watched, const std::function<void()>& input, Samples& samples);
    /// Until a frame is complete in which `watched` was painted after `done` was true.
    void detail(QWidget& watched, const std::function<void()>& input, const std::function<bool()>& done,
        Samples& samples);
    void waitFor(const std::function<bool()>& done);
    void waitUntilQuiet(const views::Page& page);

private:
    [[nodiscard]] views::DocumentPane& pane() const { return views::DocumentContent::of(m_window)->active(); }
    void waitUntilDue();

    Application& m_application;
    views::MainWindow& m_window;
    double m_due = 0;
};

void turnWheel(QWidget& widget, QPointF at, int notches);
void clickAt(QWidget& widget, QPointF at);

} // namespace strata::bench
