// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>

namespace strata::launch {

/// Waits for a process at a place of an abstract name (capture/agent/entry/injected.h), and looks at the process
/// meanwhile. One thread.
class Meeting {
public:
    [[nodiscard]] static model::Result<Meeting> with(pid_t process);
    Meeting(Meeting&& other) noexcept;
    Meeting& operator=(Meeting&&) = delete;
    ~Meeting();

    [[nodiscard]] const std::string& name() const { return m_name; }

    enum class Came : std::uint8_t { Yes, TooLate, Stopped, Ended /*the process*/ };
    using Deadline = std::chrono::steady_clock::time_point;
    /// Until it comes. Others who come are sent away.
    [[nodiscard]] Came wait(Deadline deadline, const std::stop_token& stop);
    /// Until it says something; it came before. Ended: also where it left.
    [[nodiscard]] Came receive(std::string& message, Deadline deadline, const std::stop_token& stop) const;
    void send(const std::string& message) const;
    /// The connection, which is the caller's then.
    [[nodiscard]] int release();

private:
    explicit Meeting(pid_t process)
        : m_process(process)
    {
    }
    [[nodiscard]] Came waitFor(int socket, Deadline deadline, const std::stop_token& stop) const;
    [[nodiscard]] bool isIt(int socket) const;

    pid_t m_process;
    std::string m_name;
    int m_listener = -1, m_link = -1, m_watched = -1;
};

} // namespace strata::launch
