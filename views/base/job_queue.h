// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

namespace strata::views {

class JobQueue;
struct JobLine;
struct JobTask;

/// What becomes of the jobs before when the next one is started.
enum class Earlier : std::uint8_t {
    Stop, ///< they are asked to stop and dropped; the next one does not wait for them
    Finish, ///< the one that runs ends and counts; of those that wait, only the latest
    Keep, ///< all are done and count, one after the other; none is ever asked to stop
};

/// What a job sees of whoever started it: whether to stop, where to say how far it is and what it has so far.
/// Cheap enough to be asked every few thousand items. For the thread of the job, while the job runs.
class JobContext {
public:
    JobContext() = default; ///< never stops, tells nobody: for work that is done at once
    explicit JobContext(std::stop_token stop)
        : m_stop(std::move(stop))
    {
    }

    [[nodiscard]] bool cancelled() const { return m_stop.stop_requested(); }
    [[nodiscard]] const std::stop_token& stop() const { return m_stop; }
    void progress(double fraction) const; ///< 0 to 1
    void progress(const model::ProgressReport& report) const;
    [[nodiscard]] model::Progress forModel() const; ///< the same for functions of the model
    /// Has a call made on the owner's thread, unless the job is dropped by then. As often as there is
    /// something to show; calls keep their order, and come before the end of the job.
    void deliver(std::function<void()> call) const;

private:
    friend class JobQueue;
    explicit JobContext(std::shared_ptr<JobTask> task);

    std::stop_token m_stop;
    std::shared_ptr<JobTask> m_task;
};

/// Jobs of one purpose, off the thread of their owner: which of them run, and whose results count. It knows
/// threads only by the two ways that it is given, and no Qt: BackgroundJob is what windows use.
///
/// At most one job runs at a time, but for dropped ones on their way out. All is called on the owner's
/// thread.
class JobQueue {
public:
    using Call = std::function<void()>;
    /// What is to be done on a thread of its own. It must own what it reads, since it may still be on its way
    /// out when the queue is gone. It returns what is to be done with its result, on the owner's thread.
    using Job = std::function<Call(const JobContext&)>;

    struct Ways {
        std::function<void(Call)> run; ///< makes the call on another thread, sooner or later
        /// Makes the call on the owner's thread, from its event loop, in order. Called on any thread.
        std::function<void(Call)> post;
    };

    /// `changed` is called whenever running() says something else than before, after what the result is for.
    JobQueue(Earlier earlier, Ways ways, Call changed);
    ~JobQueue(); ///< as cancel()

    JobQueue(const JobQueue&) = delete;
    JobQueue& operator=(const JobQueue&) = delete;

    /// `ranOut` is called instead of what `job` returns, where that throws std::bad_alloc.
    void start(Job job, Call ranOut);
    /// Asks what runs and waits to stop; what they still deliver counts. Nothing with Earlier::Keep.
    void stop();
    /// Drops what runs and what waits: nothing of it is delivered any more, and it is asked to stop. With
    /// Earlier::Keep it is still done.
    void cancel();

    [[nodiscard]] bool running() const { return !m_wanted.empty(); } ///< not dropped, and not at its end
    [[nodiscard]] model::ProgressReport progress() const; ///< what the oldest running one said last

private:
    friend class JobContext;
    static void work(std::shared_ptr<JobTask> task);
    static std::shared_ptr<JobTask> next(const std::shared_ptr<JobTask>& ended);
    static void post(const std::shared_ptr<JobTask>& task, Call call, bool last);
    static void took(const std::shared_ptr<JobTask>& task, const Call& call, bool last);
    void drop();
    void announce();

    const Earlier m_earlier;
    const Call m_changed;
    std::shared_ptr<JobLine> m_line;
    std::vector<std::shared_ptr<JobTask>> m_wanted; // in order, until dropped or at their end
    bool m_announced = false; // what running() was at the last m_changed()
};

} // namespace strata::views
