// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

#include "views/base/background_job.h"

namespace strata::views {

class DocumentContent;
class DocumentPane;
class RecentFiles;

/// Saves documents as sessions, in the background; the content tells what came of it. Its destructor waits
/// for what is being written. GUI thread only.
class SessionSaver {
    Q_DECLARE_TR_FUNCTIONS(strata::views::DocumentContent)
public:
    SessionSaver(DocumentContent& content, RecentFiles& recent);

    /// Asks for a name. Of a process that is watched, saves what it told up to now.
    void save(DocumentPane& pane);

private:
    DocumentContent& m_content;
    RecentFiles& m_recent;
    BackgroundJob m_saving{ Earlier::Keep, BackgroundJob::Thread::Own };
};

} // namespace strata::views
