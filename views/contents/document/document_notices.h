// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QList>

#include "views/shell/notice.h"

#include <functional>

namespace strata::views {

class DocumentPane;

/// What is to be said of a document as it is now, as strips above the page. Buttons of notices call what they
/// are made with: to make a pane the active one, to open a file anew. GUI thread only.
class DocumentNotices {
    Q_DECLARE_TR_FUNCTIONS(strata::views::DocumentContent)
public:
    DocumentNotices(std::function<void(DocumentPane&)> activate,
        std::function<void(const QString& path, bool force)> open);

    [[nodiscard]] QList<Notice> of(DocumentPane& pane) const;
    [[nodiscard]] static Notice failure(const DocumentPane& pane); ///< why it could not be opened

private:
    [[nodiscard]] QList<Notice> ofLive(DocumentPane& pane) const;

    std::function<void(DocumentPane&)> m_activate;
    std::function<void(const QString& path, bool force)> m_open;
};

} // namespace strata::views
