// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/polled.h"

#include "app/cli/answer_json.h"
#include "app/cli/live/terminal/watch.h"
#include "model/live/find_processes.h"
#include "model/live/processes_answer.h"

#include <charconv>
#include <chrono>
#include <thread>
#include <unistd.h>

namespace strata::cli {

namespace {

using model::Error;
using model::ProcessState;
using namespace std::chrono_literals;

/// What else can be done with such a process.
model::Sentence remedyFor(const model::LiveProcess& process)
{
    switch (process.state) {
    case ProcessState::File:
        return model::say("it is recorded to a file: strata summary %1", process.file);
    case ProcessState::Attachable:
        return model::say("strata attach --inject %1 records it from then on", *process.process);
    default:
        return model::say("start it with: strata record --live");
    }
}

void printEachSecond(
    model::PolledProcess& polled, model::LiveProcess process, Output& out, const std::stop_token& stop)
{
    for (auto next = std::chrono::steady_clock::now(); !stop.stop_requested() && !out.closed();) {
        const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::system_clock::now().time_since_epoch());
        out.write(jsonLine(model::ProcessAt{ std::move(process), now.count() }));
        out.flush();
        next += 1s;
        while (std::chrono::steady_clock::now() < next && !stop.stop_requested())
            std::this_thread::sleep_for(20ms);
        auto read = polled.read();
        if (!read)
            return;
        process = std::move(*read);
    }
}

} // namespace

model::Result<void> attachPolled(const std::string& target, const Error& notLive,
    const PolledOptions& options, Output& out, const std::stop_token& stop)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), number);
    if (error != std::errc() || end != target.data() + target.size())
        return model::Failure(notLive);
    model::PolledProcess polled(number);
    const auto process = polled.read();
    if (!process || (process->state == ProcessState::Polled && !process->totals))
        return model::Failure(notLive);
    if (!options.output.empty())
        return model::fail(Error::Kind::NotFound,
            model::say("process %1 lets nobody look on, so that there is no session of it", number),
            remedyFor(*process));
    if (!process->totals)
        return model::fail(Error::Kind::NotFound,
            model::say("process %1 lets nobody look on, and the driver tells nothing of it", number),
            remedyFor(*process));
    if (!options.json)
        return watchOnTerminal(polled, *process, remedyFor(*process));
    printEachSecond(polled, *process, out, stop);
    return {};
}

} // namespace strata::cli
