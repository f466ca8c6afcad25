// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace strata::cli {

/// Work that would keep the terminal waiting, on a thread of its own; one at a time. Its end is told by
/// `done`, on that thread. All else by one thread, which destroys it too: that stops the work, and waits.
template <class Outcome> class Errand {
public:
    explicit Errand(std::function<void()> done)
        : m_done(std::move(done))
    {
    }

    /// Neither under way nor waiting to be fetched.
    [[nodiscard]] bool isFree() const { return !m_busy; }

    /// `work` takes a stop token and gives the outcome; it may not throw. Only while it is free.
    template <class Work> void start(Work work)
    {
        m_busy = true;
        m_thread = std::jthread([this, work = std::move(work)](const std::stop_token& stop) {
            Outcome outcome = work(stop);
            {
                const std::lock_guard lock(m_mutex);
                m_outcome = std::move(outcome);
            }
            m_done();
        });
    }

    /// What came of it, once.
    [[nodiscard]] std::optional<Outcome> fetch()
    {
        const std::lock_guard lock(m_mutex);
        if (m_outcome)
            m_busy = false;
        return std::exchange(m_outcome, std::nullopt);
    }

private:
    const std::function<void()> m_done;
    bool m_busy = false; // of the thread that owns it
    std::mutex m_mutex; // guards m_outcome
    std::optional<Outcome> m_outcome;
    std::jthread m_thread; // last
};

} // namespace strata::cli
