// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/shell/window_content.h"

namespace strata::views {

class AttachPage;

/// The page Attach as a content of the window.
class AttachContent : public WindowContent {
    Q_OBJECT
public:
    static constexpr const char* kId = "attach";
    [[nodiscard]] static ContentKind kind();

    explicit AttachContent(QWidget* parent = nullptr);

    [[nodiscard]] AttachPage& page() const { return *m_page; }

    [[nodiscard]] QString title() const override { return tr("Attach"); }
    void setPalette(const Palette& palette) override;
    [[nodiscard]] bool canCopy() const override { return true; }
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] QString commandLine() const override;
    void enter(const QString& behind) override;
    void takeKeyboard() override;

private:
    AttachPage* m_page;
};

} // namespace strata::views
