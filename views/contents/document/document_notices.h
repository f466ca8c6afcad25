// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/shell/notice.h"

#include <QList>

#include <functional>

namespace strata::views {

class DocumentPane;

using ActivatePane = std::function<void(DocumentPane&)>; ///< makes it the active one
using OpenAnew = std::function<void(const QString& path, bool force)>;

/// What is to be said of a document as it is now, as strips above the page. Buttons of notices call what is
/// given here, as long as they are there. GUI thread.
[[nodiscard]] QList<Notice> noticesOf(DocumentPane& pane, const ActivatePane& activate, const OpenAnew& open);
/// Why it could not be opened. GUI thread.
[[nodiscard]] Notice failureNotice(const DocumentPane& pane);

} // namespace strata::views
