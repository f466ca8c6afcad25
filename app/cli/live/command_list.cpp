// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/live/process_json.h"
#include "app/cli/options.h"
#include "app/cli/row_table.h"
#include "model/base/units.h"

#include <CLI/CLI.hpp>
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
        : Command("list", "Lists the processes that are recorded now and can be watched")
    {
    }

    void declare(CLI::App& app) override
    {
        app.add_flag("--json", m_json, "JSON for programs");
        app.footer("\nThese are processes of this user (of all users for root) that were started with strata "
                   "record --live or\nstrata dryrun --live, or record themselves so.\n\n"
                   "Exit codes:\n  0 done, even if there is none   2 bad usage\n");
    }

    model::Result<int> run(Output& out, Output& err) override
    {
        std::string why;
        const std::vector<model::LiveProcess> processes = model::findLiveProcesses(why);
        if (!why.empty())
            err.write("strata: not looked into: " + why);
        if (m_json)
            printJson(processes, out);
        else
            print(processes, out);
        return kDone;
    }

private:
    static void printJson(const std::vector<model::LiveProcess>& processes, Output& out)
    {
        JsonWriter json;
        json.beginObject().member("schema", 1).key("processes").beginArray();
        for (const model::LiveProcess& process : processes) {
            json.beginObject();
            writeProcess(process, json);
            json.endObject();
        }
        json.endArray().endObject();
        out.line(json.text());
    }

    static void print(const std::vector<model::LiveProcess>& processes, Output& out)
    {
        if (processes.empty())
            return out.line("There is no process that can be watched: start one with strata record --live.");
        RowTable table(out,
            { { "process", 9 }, { "rank", 8 }, { "device", 6 }, { "requested", 11 }, { "reserved", 11 },
                { "used", 11 }, { "events/s", 10 } },
            "name");
        for (const model::LiveProcess& process : processes) {
            const std::string number = numberOr(process.process, "?");
            const std::string rank = !process.rank ? ""
                : process.worldSize                ? fmt::format("{}/{}", *process.rank, *process.worldSize)
                                                   : std::to_string(*process.rank);
            if (!process.totals || process.totals->devices.empty()) {
                table.row({ number, rank, "", "", "", "", "" },
                    process.totals ? process.name : process.name + " (does not answer)");
                continue;
            }
            const std::string rate
                = process.totals->eventsPerSecond < 0 ? "?" : std::to_string(process.totals->eventsPerSecond);
            for (const wire::DeviceTotals& device : process.totals->devices)
                table.row({ number, rank, std::to_string(device.device), bytesOf(device.requestedBytes),
                              bytesOf(device.reservedBytes), bytesOf(device.usedBytes), rate },
                    process.name);
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
