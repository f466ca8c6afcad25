// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "model/trace/user_data.h"
#include "views/base/background_job.h"

#include <memory>

namespace strata::views {

class Document;

/// Keeps a document's notes in files: writes changes of ViewState::user() in the background, and takes over
/// what others wrote. Tells by Document::userKept() and userNotKept() what came of it. A child of the
/// document; its destructor waits for what is being written. GUI thread only.
class DocumentNotes : public QObject {
public:
    explicit DocumentNotes(Document& document);

    void read(const model::UserData& user); ///< they are those of a file that was opened
    void take(const model::UserData& told); ///< they came with a newer generation
    void keep(); ///< writes what differs from what is kept, in a moment
    void leave() { m_writing.cancel(); } ///< whose file it writes is not shown any more

private:
    Document& m_document;
    std::shared_ptr<const model::UserData> m_kept; // as it is in files, or will be once m_writing is over
    BackgroundJob m_writing{ Earlier::Keep, BackgroundJob::Thread::Own };
};

} // namespace strata::views
