// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace strata::views {

/// Runs one job after the other on a thread of its own; of the jobs that wait, only the latest counts. A job
/// returns what is to be done with its result, and that is called on the thread of this object, from the
/// event loop. Destroying it stops the running job and waits for it: jobs look at their stop token often.
class PictureJob : public QObject {
public:
    using Deliver = std::function<void()>;
    using Job = std::function<Deliver(std::stop_token)>;

    /// What becomes of a job that still runs when the next one is started.
    enum class Running : std::uint8_t {
        Stop, ///< asked to stop, its result dropped
        Finish, ///< runs on, its result is delivered
    };

    explicit PictureJob(QObject* parent = nullptr);
    ~PictureJob() override;

    void start(Job job, Running running);
    void cancel(); ///< drops what waits and what runs
    [[nodiscard]] bool busy() const { return m_unfinished > 0; }

    std::function<void()> idle; ///< called when the last job was delivered or dropped

private:
    struct Waiting {
        Job job;
        std::uint64_t generation;
    };
    void loop(const std::stop_token& stop);
    void finished(const Deliver& deliver, std::uint64_t generation);

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::optional<Waiting> m_waiting; // guarded by m_mutex
    std::stop_source m_runningStop; // guarded by m_mutex

    std::uint64_t m_generation = 0; // this object's thread from here on
    std::uint64_t m_oldestWanted = 0;
    int m_unfinished = 0;
    std::jthread m_thread;
};

} // namespace strata::views
