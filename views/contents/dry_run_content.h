// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/shell/window_content.h"

namespace strata::views {

class DryRunPage;

/// The page Dry run as a content of the window: a run goes on while other contents come and go, and how it
/// ended is said then.
class DryRunContent : public WindowContent {
    Q_OBJECT
public:
    static constexpr const char* kId = "dryrun";
    [[nodiscard]] static ContentKind kind();

    explicit DryRunContent(const ContentContext& context, QWidget* parent = nullptr);

    [[nodiscard]] DryRunPage& page() const { return *m_page; }

    [[nodiscard]] QString title() const override { return tr("Dry run"); }
    [[nodiscard]] QString buttonText() const override;
    void setPalette(const Palette& palette) override;
    [[nodiscard]] QList<Actions::Section> sections() const override;
    [[nodiscard]] bool canCopy() const override { return true; }
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] QString commandLine() const override;
    void enter(const QString& behind) override;
    void takeKeyboard() override;

private:
    void sayEnded();

    DryRunPage* m_page;
};

} // namespace strata::views
