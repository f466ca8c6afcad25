// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/shell/window_content.h"

class QToolButton;
class QVBoxLayout;

namespace strata::views {

class Finder;
class SearchBox;

/// What the window shows before a file is open: what Strata is, how to open something, and the lines of
/// Python that record a snapshot. Its search finds files and actions.
class StartPage : public WindowContent {
    Q_OBJECT
public:
    explicit StartPage(const ContentContext& context, QWidget* parent = nullptr);
    ~StartPage() override;

    void setPalette(const Palette& palette) override;
    [[nodiscard]] QWidget* topPart() override { return m_top; }

private:
    void makeTop(const ContentContext& context);
    QWidget* makeHead(const Actions& actions);
    QWidget* makeSamples();
    QWidget* makeRecent();
    QWidget* makeRecording();
    void fillRecent();

    RecentFiles& m_recent;
    Finder* m_finder;
    QWidget* m_top;
    SearchBox* m_search;
    QWidget* m_recentPart = nullptr;
    QVBoxLayout* m_recentList = nullptr;
    QToolButton* m_copy = nullptr;
};

} // namespace strata::views
