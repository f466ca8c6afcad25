// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/palette.h"

class QAction;
class QLabel;
class QToolButton;
class QVBoxLayout;

namespace strata::views {

class RecentFiles;

/// What the window shows before a file is open: what Strata is, how to open something, and the lines of
/// Python that record a snapshot.
class StartPage : public QWidget {
    Q_OBJECT
public:
    StartPage(RecentFiles& recent, QAction* open, QAction* dryRun, QWidget* parent = nullptr);

    void setPalette(const Palette& palette);

    /// The lines that record a snapshot, as they go to the clipboard.
    [[nodiscard]] static QString recordingCode();

Q_SIGNALS:
    void fileChosen(const QString& path);

private:
    QWidget* makeHead(QAction* open, QAction* dryRun);
    QWidget* makeSamples();
    QWidget* makeRecent();
    QWidget* makeRecording();
    void fillRecent();

    RecentFiles& m_recent;
    QWidget* m_recentPart = nullptr;
    QVBoxLayout* m_recentList = nullptr;
    QToolButton* m_copy = nullptr;
};

} // namespace strata::views
