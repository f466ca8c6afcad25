// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/join/join_memory.h"
#include "views/base/background_job.h"

#include <memory>
#include <optional>

namespace strata::views {

/// A snapshot or a session on the clock of a trace of the same run, as `strata timeline TRACE FILE` puts it
/// there. Immutable, any thread.
struct AddedMemory {
    QString path;
    std::shared_ptr<const model::Session> session; ///< of the file
    model::MemoryJoin join;
    /// Of the trace, with the file's curves in place of its own readings. Strings are the trace's.
    std::shared_ptr<const model::Work> work;
    model::TimeSpan traceTime; ///< of all that the trace tells
};

/// Reads `path` and puts it on the clock of `trace`, a session that tells of work. Refused, with what to do:
/// what cannot be read, what is a trace itself, what lies in the trace in no one place (joinMemory()). Any
/// thread; as slow as opening the file.
[[nodiscard]] model::Result<std::shared_ptr<const AddedMemory>> addMemory(
    const std::shared_ptr<const model::Session>& trace, const QString& path,
    const model::Progress& progress = {});

/// Adds a file to a trace off the GUI thread. What was added stays until another file is there: one that is
/// refused or cancelled changes nothing. GUI thread only.
class MemoryAdder : public QObject {
    Q_OBJECT
public:
    explicit MemoryAdder(QObject* parent = nullptr);

    /// Drops what was added to another trace; nullptr: there is none to add to.
    void setTrace(std::shared_ptr<const model::Session> trace);
    void add(const QString& path); ///< of setTrace(), which is not nullptr; another that is read is dropped
    void cancel(); ///< what is read
    void remove(); ///< what was added
    void dismiss(); ///< the refusal

    [[nodiscard]] const std::shared_ptr<const AddedMemory>& added() const { return m_added; } ///< or nullptr
    [[nodiscard]] QString adding() const { return m_adding; } ///< path of the file that is read; empty: none
    [[nodiscard]] double fraction() const { return m_job.fraction(); } ///< of it that is read; 0: not known
    /// Why the last file was not added, its path included.
    [[nodiscard]] const std::optional<model::Error>& refusal() const { return m_refusal; }

Q_SIGNALS:
    void addedChanged(); ///< added() is another
    void changed(); ///< so may adding(), fraction() and refusal(); comes with addedChanged() too

private:
    void refuse(model::Error error);

    std::shared_ptr<const model::Session> m_trace;
    std::shared_ptr<const AddedMemory> m_added;
    QString m_adding;
    std::optional<model::Error> m_refusal;
    BackgroundJob m_job{ Earlier::Stop, BackgroundJob::Thread::Beside };
};

} // namespace strata::views
