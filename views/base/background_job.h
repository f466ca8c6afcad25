// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include "model/base/result.h"
#include "views/base/job_queue.h"

#include <concepts>
#include <type_traits>

namespace strata::views {

/// Work off the GUI thread, and what comes of it on the GUI thread: one for each purpose of its owner, who
/// says what becomes of the jobs before when the next is started (Earlier). A job must own what it reads
/// (immutable data by shared_ptr). What it delivers is called from the event loop, and never once the job was
/// dropped or this object is gone, so that it may use its owner. GUI thread only.
class BackgroundJob : public QObject {
    Q_OBJECT
public:
    enum class Thread : std::uint8_t {
        Shared, ///< of the global pool; destruction leaves what still runs to it
        Beside, ///< likewise, but for long work: others of the pool do not wait for it
        Own, ///< waits for nobody else's work; destruction waits for what still runs, or is kept
    };

    explicit BackgroundJob(
        Earlier earlier = Earlier::Stop, Thread thread = Thread::Shared, QObject* parent = nullptr);
    ~BackgroundJob() override; ///< cancels

    /// Runs `work(const JobContext&)` elsewhere, then calls `done(result)` here, when running() is over.
    template <class Work, class Done> void start(Work work, Done done)
    {
        using Value = std::invoke_result_t<Work&, const JobContext&>;
        begin([work = std::move(work), done = std::move(done)](const JobContext& context) mutable {
            auto value = std::make_shared<Value>(work(context));
            return JobQueue::Call([value, done = std::move(done)]() mutable { done(std::move(*value)); });
        });
    }
    /// Runs `work(const JobContext&)`, which returns nothing: what it has to say it delivers.
    template <class Work> void start(Work work)
    {
        static_assert(std::same_as<std::invoke_result_t<Work&, const JobContext&>, void>);
        begin([work = std::move(work)](const JobContext& context) mutable {
            work(context);
            return JobQueue::Call();
        });
    }
    void stop() { m_queue.stop(); } ///< what runs and waits is to end early; what it delivers counts
    /// Drops what runs and waits; it ends early, but for what is kept (Earlier::Keep).
    void cancel() { m_queue.cancel(); }

    [[nodiscard]] bool running() const { return m_queue.running(); } ///< something is to be delivered yet
    [[nodiscard]] model::ProgressReport progress() const { return m_queue.progress(); }
    [[nodiscard]] double fraction() const; ///< of progress(); 0 where the total is not known

Q_SIGNALS:
    void runningChanged(); ///< after what was done with the result
    void progressChanged(); ///< while a job runs, at most ten times a second
    /// A job ended for want of memory, instead of what would have been done with its result.
    void failed(const strata::model::Error& error);

private:
    void begin(JobQueue::Job job);
    void changed();

    QThreadPool m_own; // of one thread, for Thread::Own; goes after the queue has said who is to stop
    JobQueue m_queue;
    QTimer m_ticker;
    model::ProgressReport m_told;
};

} // namespace strata::views
