// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "app/launch/inject/inject.h"
#include "model/base/result.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace CLI {
class App;
}

namespace strata::cli {

/// --inject and what belongs to it: `strata attach` begins the recording that it watches.
class InjectOption {
public:
    void declare(CLI::App& app);
    [[nodiscard]] bool isOn() const { return m_isOn; }
    [[nodiscard]] bool keeps() const { return m_keep; }
    [[nodiscard]] bool ends() const { return m_end; }
    /// There is something to be done without anybody who watches.
    [[nodiscard]] bool isEnough() const { return m_keep || m_end; }
    [[nodiscard]] model::Result<void> check(const std::string& target) const;

    /// Looks at the process, asks, brings the recorder in. Says what happens.
    [[nodiscard]] model::Result<launch::Injection> begin(
        const std::string& target, Output& err, const std::stop_token& stop) const;

    /// For --end, likewise.
    [[nodiscard]] model::Result<void> end(
        const std::string& target, Output& err, const std::stop_token& stop) const;

private:
    [[nodiscard]] std::chrono::milliseconds timeout() const;
    [[nodiscard]] model::Result<void> ask(const launch::InjectionPlan& plan, Output& err) const;

    bool m_isOn = false, m_yes = false, m_keep = false, m_end = false;
    double m_timeoutSeconds = 30;
    bool m_kernels = false, m_sharesKernels = false, m_operators = false;
    std::string m_stacks;
};

/// How a watching ends: at once where `interrupted` is asked for, or so many seconds later. Where that ends
/// the recording too, it goes on until that is written, fifteen seconds at most. Threads: any for token().
class WatchingEnd {
public:
    /// `ends`: the recording that ends with it; none: it goes on. Outlives this.
    WatchingEnd(std::stop_token interrupted, std::optional<double> seconds, const launch::Injection* ends);

    [[nodiscard]] std::stop_token token() const { return m_stop.get_token(); }

private:
    void run(const std::stop_token& over);

    const std::stop_token m_interrupted;
    const std::optional<double> m_seconds;
    const launch::Injection* const m_ends;
    std::stop_source m_stop;
    std::jthread m_thread; // last: it uses all of them
};

} // namespace strata::cli
