// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace strata::views {

/// What a job sees of whoever started it: whether to stop, and where to say how far it is. Cheap enough to be
/// asked every few thousand items.
class JobContext {
public:
    JobContext() = default; ///< never stops, reports to nobody: for tests and short work
    JobContext(std::stop_token stop, std::shared_ptr<std::atomic<int>> permille)
        : m_stop(std::move(stop))
        , m_permille(std::move(permille))
    {
    }

    [[nodiscard]] bool cancelled() const { return m_stop.stop_requested(); }
    [[nodiscard]] const std::stop_token& stop() const { return m_stop; }
    void progress(double fraction) const
    {
        if (m_permille)
            m_permille->store(static_cast<int>(fraction * 1000), std::memory_order_relaxed);
    }

private:
    std::stop_token m_stop;
    std::shared_ptr<std::atomic<int>> m_permille;
};

/// Work off the GUI thread of which only the newest counts: starting a job cancels the one before, and the
/// result of a cancelled job is dropped. The job must own what it reads (immutable data by shared_ptr), since
/// it may still be on its way out when this object is gone. GUI thread only.
class LatestJob : public QObject {
    Q_OBJECT
public:
    explicit LatestJob(QObject* parent = nullptr);
    ~LatestJob() override; ///< cancels, does not wait

    /// Runs `work(const JobContext&)` on a thread of the global pool, then `done(result)` on this one, unless
    /// cancelled in between.
    template <class Work, class Done> void start(Work work, Done done)
    {
        using Value = std::invoke_result_t<Work, const JobContext&>;
        run([work = std::move(work), done = std::move(done)](const JobContext& context) mutable {
            auto value = std::make_shared<Value>(work(context));
            return std::function<void()>(
                [value, done = std::move(done)]() mutable { done(std::move(*value)); });
        });
    }
    void cancel();

    [[nodiscard]] bool running() const { return m_running; }
    [[nodiscard]] double progress() const; ///< 0 to 1

Q_SIGNALS:
    void runningChanged();
    void progressChanged(); ///< while a job runs, ten times a second

private:
    struct Link;
    void run(std::function<std::function<void()>(const JobContext&)> work);
    void setRunning(bool running);

    std::shared_ptr<Link> m_link;
    std::stop_source m_stop;
    std::shared_ptr<std::atomic<int>> m_permille;
    QTimer m_ticker;
    quint64 m_generation = 0;
    bool m_running = false;
};

} // namespace strata::views
