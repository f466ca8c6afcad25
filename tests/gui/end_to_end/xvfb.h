// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include <sys/types.h>

namespace strata::test {

/// An X server without a screen (the program Xvfb) for as long as the object lives, on a display number that
/// the server itself finds free. Sets DISPLAY for this process: make it before the application. The server
/// ends with this process, however that ends.
class Xvfb {
public:
    Xvfb();
    ~Xvfb();
    Xvfb(const Xvfb&) = delete;
    Xvfb& operator=(const Xvfb&) = delete;

    [[nodiscard]] bool installed() const { return m_installed; }
    [[nodiscard]] bool running() const { return m_problem.empty(); }
    [[nodiscard]] const std::string& problem() const { return m_problem; } ///< why it does not run

private:
    void start(const std::string& program);

    bool m_installed = false;
    std::string m_problem;
    pid_t m_server = -1;
};

} // namespace strata::test
