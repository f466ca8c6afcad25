// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include "views/models/programs/dry_run_job.h"
#include "views/pages/dryrun/dry_run_texts.h"
#include "views/style/palette.h"

class QAction;
class QLabel;
class QPushButton;
class QScrollArea;
class QSettings;
class QStackedWidget;
class QVBoxLayout;

namespace strata::views {

class DryRunForm;
class DryRunOutput;
class DryRunResultView;

/// The page Dry run: the form at the left; at the right what a dry run is, then the program's output while it
/// runs, then the verdict with its figures. Belongs to a window, not to a document: a run goes on while
/// documents come and go. Its actions(), with shortcuts, are for the list of shortcuts. The settings must
/// outlive it.
class DryRunPage : public QWidget {
    Q_OBJECT
public:
    /// `program` is the path of `strata`, `recordings` a folder of the window's own: it keeps the newest
    /// kMostRecordings that were put nowhere else.
    DryRunPage(
        QSettings& settings, const QString& program, const QString& recordings, QWidget* parent = nullptr);
    ~DryRunPage() override;

    static constexpr int kMostRecordings = 10;

    void setPalette(const Palette& palette);
    /// The document that Back leads to; empty: the start page.
    void setBackTo(const QString& fileName);
    void focusForm();

    [[nodiscard]] DryRunForm& form() const { return *m_form; }
    [[nodiscard]] bool running() const { return m_job.running(); }
    [[nodiscard]] const DryRunJob& job() const { return m_job; }
    /// How the last run ended; nothing before the first, and while one runs.
    [[nodiscard]] const std::optional<DryRunOutcome>& outcome() const { return m_outcome; }
    [[nodiscard]] QString commandLine() const; ///< empty while there is no command
    [[nodiscard]] QString copyText() const; ///< verdict and figures; empty without a result

    void run();
    void cancel();
    void openResult();

Q_SIGNALS:
    void openRecording(const QString& path);
    void backRequested();
    void copied(const QString& what); ///< something went to the clipboard
    void runningChanged(); ///< a run began or ended
    void commandChanged(); ///< commandLine() may say something else now

private:
    QWidget* makeLeft();
    QWidget* makeRight();
    QWidget* makeEmpty();
    QWidget* makeRun();
    void makeActions();
    void showEnded(const DryRunOutcome& outcome);
    void showResult();
    void showProgress();
    void showOutput(bool shown);
    void updateActions();
    void copyCommand();
    void runOnEachCard(); // what was run last, on other cards too
    [[nodiscard]] QString recordingPath(const DryRunRequest& request) const;

    QString m_recordings;
    RecentDryRuns m_recent;
    DryRunJob m_job;
    QTimer m_second; // while running: the elapsed time
    std::optional<DryRunOutcome> m_outcome;
    Palette m_palette = Palette::light();

    QPushButton* m_back;
    DryRunForm* m_form;
    QStackedWidget* m_stack;
    QWidget* m_empty = nullptr;
    QWidget* m_runPart = nullptr;
    QLabel* m_mark; // of the verdict
    QLabel* m_verdict;
    QLabel* m_more;
    QLabel* m_path; // of the recording
    QPushButton* m_open;
    QScrollArea* m_scroll;
    DryRunResultView* m_result = nullptr; // in m_scroll
    QPushButton* m_outputButton;
    DryRunOutput* m_output;
    QVBoxLayout* m_runLayout = nullptr;

    QAction *m_runAction, *m_cancelAction, *m_openAction, *m_outputAction, *m_backAction;
};

} // namespace strata::views
