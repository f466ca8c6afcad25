// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/shell/window_content.h"

namespace strata::views {

class RunRanksPage;

/// The page Ranks as a content of the window.
class RunRanksContent : public WindowContent {
    Q_OBJECT
public:
    static constexpr const char* kId = "ranks";
    [[nodiscard]] static ContentKind kind();

    explicit RunRanksContent(RecentFiles& recent, QWidget* parent = nullptr);

    [[nodiscard]] RunRanksPage& page() const { return *m_page; }
    void open(const QStringList& paths); ///< traces of the ranks of one run
    [[nodiscard]] bool reading() const;
    [[nodiscard]] QString refusal() const; ///< why they are not shown; empty: they are

    [[nodiscard]] QString title() const override { return tr("Ranks"); }
    void setPalette(const Palette& palette) override;
    [[nodiscard]] bool canCopy() const override { return true; }
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] QString commandLine() const override;
    void enter(const QString& behind) override;
    void takeKeyboard() override;

private:
    void choose();

    RecentFiles& m_recent;
    RunRanksPage* m_page;
};

} // namespace strata::views
