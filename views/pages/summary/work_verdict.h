// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

#include "views/base/background_job.h"

#include <memory>

namespace strata::model {
class Session;
}

namespace strata::views {

/// What the page Timeline says first of a recording that tells what ran when, with a link to that page.
/// Worked out off the GUI thread; not visible until then, and where there is nothing to say. GUI thread only.
class WorkVerdict : public QLabel {
    Q_OBJECT
public:
    /// `link`: the colour of the link; `session` may be nullptr.
    WorkVerdict(
        std::shared_ptr<const model::Session> session, const QString& link, QWidget* parent = nullptr);

private:
    BackgroundJob m_job;
};

} // namespace strata::views
