// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "views/base/background_job.h"

#include <functional>
#include <map>
#include <memory>

namespace strata::views {

class Document;
struct DeviceData;
struct ReplayData;

/// Replays the allocators of a document's devices, each once all of it is known and while it is selected.
/// Tells by Document::progressChanged() how far it is. A child of the document. GUI thread only.
class DocumentReplay : public QObject {
public:
    /// `of`: the device that was replayed, as it was then.
    using Publish = std::function<void(const DeviceData& of, std::shared_ptr<const ReplayData> replay)>;

    DocumentReplay(Document& document, Publish publish);

    void leaveOut() { m_leftOut = true; } ///< no device is replayed
    void replaySelected(); ///< unless it is done, or cannot be yet
    void forget(int device) { m_jobs.erase(device); } ///< there is a newer generation
    void clear() { m_jobs.clear(); } ///< there is another recording

    // Of the selected device.
    [[nodiscard]] bool running() const; ///< or will be in a moment
    [[nodiscard]] model::ProgressReport progress() const;
    void cancel(); ///< what is published stays
    void again(); ///< where it was cancelled

private:
    Document& m_document;
    const Publish m_publish;
    std::map<int, std::unique_ptr<BackgroundJob>> m_jobs; // of a device, at work or done
    bool m_leftOut = false;
};

} // namespace strata::views
