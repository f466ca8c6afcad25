// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

class QLabel;
class QProgressBar;
class QToolButton;

namespace strata::views {

class BackgroundJob;

/// The line under a table or picture: what is shown, added up, at the left; at the right the progress of work
/// that takes longer than 0.3 s, with a button that cancels it.
class TableFooter : public QWidget {
    Q_OBJECT
public:
    explicit TableFooter(QWidget* parent = nullptr);

    void setText(const QString& text); ///< rich text
    [[nodiscard]] QString text() const;
    /// Shows a job while it runs, under this name ("Sorting"). The job must outlive the footer's use of it.
    void watch(BackgroundJob* job, const QString& name);
    /// A message for a few seconds instead of progress: "Saved blocks.csv".
    void announce(const QString& message);

Q_SIGNALS:
    void gaveUp(strata::views::BackgroundJob* job); ///< it was cancelled here, or failed: what is shown stays

private:
    void showProgress();

    QLabel* m_text;
    QLabel* m_state;
    QProgressBar* m_bar;
    QToolButton* m_cancel;
    QTimer m_patience;
    QTimer m_announced;
    QList<std::pair<BackgroundJob*, QString>> m_jobs;
};

} // namespace strata::views
