// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/live/inject_job.h"
#include "views/shell/window_content.h"

namespace strata::views {

class AttachPage;

/// The page Attach as a content of the window.
class AttachContent : public WindowContent {
    Q_OBJECT
public:
    static constexpr const char* kId = "attach";
    [[nodiscard]] static ContentKind kind();

    /// `program`: the command line beside the window.
    explicit AttachContent(const QString& program, QWidget* parent = nullptr);

    [[nodiscard]] AttachPage& page() const { return *m_page; }

    [[nodiscard]] QString title() const override { return tr("Attach"); }
    void setPalette(const Palette& palette) override;
    [[nodiscard]] bool canCopy() const override { return true; }
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] QString commandLine() const override;
    void enter(const QString& behind) override;
    void takeKeyboard() override;

    [[nodiscard]] QString statusText() const override;

private:
    void confirm(qint64 process, const QStringList& sentences);

    AttachPage* m_page;
    InjectJob m_inject;
};

} // namespace strata::views
