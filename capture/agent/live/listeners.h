// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/live/live_options.h"

#include <string>

namespace strata::agent {

/// The sockets on which viewers find this process: one of its user's folder, for that user and root, and on
/// request one of 127.0.0.1. One thread.
class Listeners {
public:
    Listeners() = default;
    ~Listeners();
    Listeners(const Listeners&) = delete;
    Listeners& operator=(const Listeners&) = delete;

    /// False: `why` says what is wrong. What is wrong with TCP alone is said there too, and true.
    [[nodiscard]] bool open(const LiveOptions& options, std::string& why);
    /// No more viewers come; the socket leaves the folder.
    void close();

    [[nodiscard]] int local() const { return m_local; } ///< -1: closed; likewise the next
    [[nodiscard]] int tcp() const { return m_tcp; }
    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] std::uint16_t port() const { return m_port; }

private:
    bool openLocal(const std::string& folder, std::string& why);
    void openTcp(std::uint16_t port, std::string& why);

    int m_local = -1, m_tcp = -1;
    std::string m_path;
    std::uint16_t m_port = 0;
};

/// 32 hexadecimal digits, drawn by the system.
[[nodiscard]] std::string drawToken();
[[nodiscard]] std::uint64_t drawNumber();

} // namespace strata::agent
