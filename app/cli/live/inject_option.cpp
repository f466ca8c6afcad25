// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/inject_option.h"

#include "model/base/words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace strata::cli {

namespace {

using model::Error;
using namespace std::chrono_literals;

constexpr auto kEndPatience = 15s; // of a recording that was asked to end

std::optional<pid_t> processOf(std::string_view text)
{
    pid_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number > 0 ? std::optional(number)
                                                                                  : std::nullopt;
}

/// A line of whoever sits there; an interrupt is no.
bool agrees()
{
    std::array<char, 64> text{};
    const ssize_t got = read(STDIN_FILENO, text.data(), text.size());
    return got > 0 && (text[0] == 'y' || text[0] == 'Y');
}

} // namespace

void InjectOption::declare(CLI::App& app)
{
    auto* const on = app.add_flag("--inject", m_isOn,
        "Records a process that was started without a recorder, from now on, by bringing one into it. Asks "
        "before");
    app.add_flag("--yes", m_yes, "With --inject: does not ask")->needs(on);
    app.add_flag("--keep", m_keep, "With --inject: the recording goes on when this ends, to be watched again")
        ->needs(on);
    app.add_flag("--end", m_end, "With --inject: ends the recording of the process instead, whoever began it")
        ->needs(on);
    app.add_option("--timeout", m_timeoutSeconds,
           "With --inject: seconds until the process must be recorded; else it is left as it was")
        ->needs(on)
        ->check(CLI::Range(0.1, 86'400.0))
        ->capture_default_str();
    app.add_option("--stacks", m_stacks,
           "With --inject: whose call stacks: auto, none, python, native; as of strata record (auto)")
        ->needs(on)
        ->check(CLI::IsMember({ "auto", "none", "python", "native" }));
    app.add_flag("--kernels", m_kernels,
           "With --inject: what the GPU does, too, from now on until the recording ends, by CUPTI; while "
           "torch.profiler runs in the program, it alone is told")
        ->needs(on);
    app.add_flag("--share-kernels", m_sharesKernels,
           "With --inject: kernels as with --kernels, and while torch.profiler runs both are told: not yet "
           "tried on a real GPU")
        ->needs(on);
    app.add_flag("--operators", m_operators,
           "With --inject: kernels as with --kernels, and PyTorch's operators with sizes and types of their "
           "inputs: which launched what. Costs microseconds an operator")
        ->needs(on);
}

model::Result<void> InjectOption::check(const std::string& target) const
{
    if (m_isOn && !processOf(target))
        return model::fail(Error::Kind::Usage, model::say("%1: not the number of a process", target),
            model::say("name one of this machine, as ps and nvidia-smi show them"));
    if (m_keep && m_end)
        return model::fail(Error::Kind::Usage, model::say("--keep and --end: one of them"),
            model::say("leave the other one out"));
    return {};
}

model::Result<void> InjectOption::ask(const launch::InjectionPlan& plan, Output& err) const
{
    for (const model::Sentence& sentence : plan.sentences())
        err.line("strata: " + sentence.text());
    if (!m_end)
        err.line(m_keep ? "strata: The recording ends with the process."
                        : "strata: The recording ends when this ends (Ctrl+C); the process goes on.");
    if (m_yes) {
        err.flush();
        return {};
    }
    if (isatty(STDIN_FILENO) == 0)
        return model::fail(Error::Kind::Usage, model::say("nobody can be asked: there is no terminal"),
            model::say("agree with --yes"));
    err.write("strata: Go on? [y/N] ");
    err.flush();
    if (agrees())
        return {};
    return model::fail(Error::Kind::Cancelled, model::say("process %1 goes on as before", plan.process));
}

model::Result<launch::Injection> InjectOption::begin(
    const std::string& target, Output& err, const std::stop_token& stop) const
{
    const auto plan = launch::checkInjection(*processOf(target));
    if (!plan)
        return model::Failure(plan.error());
    if (const auto agreed = ask(*plan, err); !agreed)
        return model::Failure(agreed.error());
    launch::InjectionOptions options;
    options.timeout = timeout();
    if (!m_stacks.empty())
        options.stacks = m_stacks;
    options.kernels = m_sharesKernels ? "shared" : m_kernels || m_operators ? "aside" : "";
    options.operators = m_operators;
    auto injection = launch::inject(*plan, options, stop);
    if (!injection)
        return injection;
    for (const std::string& remark : injection->remarks())
        err.line("strata: " + remark);
    if (m_keep) {
        injection->keep();
        err.line("strata: process " + target + " is recorded: strata attach " + target + " watches it");
    }
    err.flush();
    return injection;
}

model::Result<void> InjectOption::end(
    const std::string& target, Output& err, const std::stop_token& stop) const
{
    const auto plan = launch::checkInjection(*processOf(target), launch::InjectionPurpose::End);
    if (!plan)
        return model::Failure(plan.error());
    if (const auto agreed = ask(*plan, err); !agreed)
        return agreed;
    if (const auto ended = launch::endRecording(*plan, timeout(), stop); !ended)
        return ended;
    err.line("strata: the recording of process " + target + " has ended");
    return {};
}

std::chrono::milliseconds InjectOption::timeout() const
{
    return std::chrono::milliseconds(std::llround(m_timeoutSeconds * 1000));
}

WatchingEnd::WatchingEnd(
    std::stop_token interrupted, std::optional<double> seconds, const launch::Injection* ends)
    : m_interrupted(std::move(interrupted))
    , m_seconds(seconds)
    , m_ends(ends)
    , m_thread([this](const std::stop_token& over) { run(over); })
{
}

void WatchingEnd::run(const std::stop_token& over)
{
    const auto begun = std::chrono::steady_clock::now();
    const auto isTime = [&] {
        return m_interrupted.stop_requested()
            || (m_seconds
                && std::chrono::steady_clock::now() - begun > std::chrono::duration<double>(*m_seconds));
    };
    while (!over.stop_requested() && !isTime())
        std::this_thread::sleep_for(20ms);
    if (over.stop_requested())
        return;
    if (m_ends) {
        m_ends->stop();
        const auto asked = std::chrono::steady_clock::now();
        while (!over.stop_requested() && std::chrono::steady_clock::now() - asked < kEndPatience)
            std::this_thread::sleep_for(20ms);
    }
    m_stop.request_stop();
}

} // namespace strata::cli
