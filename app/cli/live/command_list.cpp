// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/cli/tables/row_table.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/live/find_processes.h"
#include "model/live/processes_answer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

namespace {

std::string numberOr(const std::optional<std::int64_t>& number, const char* none)
{
    return number ? std::to_string(*number) : none;
}

std::string bytesOf(std::int64_t bytes)
{
    return bytes < 0 ? "?" : model::formatBytes(bytes);
}

class List final : public Command {
public:
    List()
        : Command("list", "Lists the processes that can be watched now, and others that use a GPU")
    {
    }

    void declare(CLI::App& app) override
    {
        app.add_flag("--json", m_json, "JSON for programs");
        app.footer(
            "\nStates:\n"
            "  live        it was started with strata record --live or strata dryrun --live, records "
            "itself so,\n"
            "              or is recorded by strata attach --inject\n"
            "  file        it is recorded to a file alone\n"
            "  attachable  it has PyTorch for GPUs loaded, and nothing records it\n"
            "  polled      it uses a GPU, and the driver's totals are all that is known\n\n"
            "Processes of this user, and of others what the driver tells; all of all users for root.\n\n"
            "Exit codes:\n  0 done, even if there is none   2 bad usage\n");
    }

    model::Result<int> run(Output& out, Output& err) override
    {
        std::string why;
        const model::ProcessesAnswer answer{ model::findProcesses(why) };
        if (!why.empty())
            err.write("strata: not looked into: " + why);
        if (m_json)
            out.write(jsonLine(answer));
        else
            print(answer.processes, out);
        return kDone;
    }

private:
    static void print(const std::vector<model::LiveProcess>& processes, Output& out)
    {
        if (processes.empty())
            return out.line("There is no process that can be watched: start one with strata record --live, "
                            "or record one that "
                            "runs with strata attach --inject PID.");
        RowTable table(out,
            { { "process", 9 }, { "state", 10, true }, { "rank", 8 }, { "device", 6 }, { "requested", 11 },
                { "reserved", 11 }, { "used", 11 }, { "events/s", 10 } },
            "name");
        const model::LiveProcess* before = nullptr;
        for (const model::LiveProcess& process : processes) {
            if (process.job && (!before || before->job != process.job || before->state != process.state))
                printJob(processes, process, out);
            before = &process;
            printProcess(process, table);
        }
        printWhatToType(processes, out);
    }

    /// The ranks that follow belong together.
    static void printJob(
        const std::vector<model::LiveProcess>& processes, const model::LiveProcess& first, Output& out)
    {
        const auto ranks = std::ranges::count_if(processes, [&](const model::LiveProcess& process) {
            return process.job == first.job && process.state == first.state && process.rank;
        });
        out.line(out.strong(fmt::format("  job {}", printable(*first.job)))
            + (ranks == 0             ? ""
                    : first.worldSize ? fmt::format(": {} of {} ranks", ranks, *first.worldSize)
                                      : fmt::format(": {} rank{}", ranks, ranks == 1 ? "" : "s")));
    }

    static void printProcess(const model::LiveProcess& process, RowTable& table)
    {
        const std::string number = numberOr(process.process, "?");
        const std::string state(model::stateName(process.state));
        const std::string rank = !process.rank ? ""
            : process.worldSize                ? fmt::format("{}/{}", *process.rank, *process.worldSize)
                                               : std::to_string(*process.rank);
        const bool isLive = process.state == model::ProcessState::Live;
        if (!process.totals || process.totals->devices.empty()) {
            table.row({ number, state, rank, "", "", "", "", "" },
                printable(process.name) + (isLive && !process.totals ? " (does not answer)" : ""));
            return;
        }
        const std::string rate = !isLive          ? ""
            : process.totals->eventsPerSecond < 0 ? "?"
                                                  : std::to_string(process.totals->eventsPerSecond);
        for (const wire::DeviceTotals& device : process.totals->devices)
            table.row({ number, state, rank, std::to_string(device.device),
                          isLive ? bytesOf(device.requestedBytes) : "",
                          isLive ? bytesOf(device.reservedBytes) : "", bytesOf(device.usedBytes), rate },
                printable(process.name));
    }

    /// For the first process of each state.
    static void printWhatToType(const std::vector<model::LiveProcess>& processes, Output& out)
    {
        using model::ProcessState;
        out.line("");
        for (const ProcessState state :
            { ProcessState::Live, ProcessState::File, ProcessState::Attachable, ProcessState::Polled }) {
            const auto first = std::ranges::find(processes, state, &model::LiveProcess::state);
            if (first == processes.end())
                continue;
            const std::string number = numberOr(first->process, "ADDRESS");
            std::string type, what;
            switch (state) {
            case ProcessState::Live:
                type = "strata attach " + number;
                what = "as it runs; -o FILE keeps it";
                break;
            case ProcessState::File:
                type = "strata summary " + printable(first->file);
                what = "what it has recorded so far";
                break;
            case ProcessState::Attachable:
                type = "strata attach --inject " + number;
                what = "from then on";
                break;
            case ProcessState::Polled:
                type = "strata attach " + number;
                what = "the driver's totals; to see more, start it with strata record --live";
                break;
            }
            out.line(fmt::format(
                "  {:<10}  {}  {}", model::stateName(state), out.strong(type), out.faint("(" + what + ")")));
        }
    }

    bool m_json = false;
};

} // namespace

std::unique_ptr<Command> makeList()
{
    return std::make_unique<List>();
}

} // namespace strata::cli
