// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/summary/findings.h"
#include "app/cli/text.h"
#include "model/analysis/summary/check_answer.h"
#include "model/digest/compare.h"
#include "model/session/opener.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace strata::cli {

namespace {

void printChecked(Output& out, const model::CheckAnswer& answer)
{
    out.line(fmt::format("{}: {}", out.strong(printable(answer.file)),
        answer.exact() ? out.good("totals are exact") : out.bad("totals are not exact")));
    for (const model::CheckedDevice& checked : answer.devices) {
        if (checked.integrity.exact() && checked.integrity.notes.empty())
            continue;
        if (answer.devices.size() > 1)
            out.line(deviceName(checked.device));
        printFindings(out, checked.integrity);
    }
}

class Check final : public FileCommand {
public:
    Check()
        : FileCommand("check", "Whether the figures of a recording agree with each other; exit 1 if not")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFiles(app);
        m_read.declare(app, ReadOptions::Devices::All);
        m_range.declare(
            app, "Reports only what shows at or after this position", "... and at or before this one");
        app.footer(footer(Footer::Positions));
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        auto opener = openFile(file, m_read.force);
        if (!opener)
            return model::Failure(opener.error());
        const auto session = readAll(*opener, err);
        if (!session)
            return model::Failure(session.error());
        const auto traces = chooseDevices(**session, m_read.device);
        if (!traces)
            return model::Failure(traces.error());

        model::CheckAnswer answer{ file, {}, {} };
        for (const model::DeviceTrace* trace : *traces) {
            const auto range = parseRange(*trace, m_range);
            if (!range)
                return model::Failure(range.error());
            answer.devices.push_back({ trace->device(),
                m_range.given() ? model::integrityOf(trace->findings(), range->from, range->to)
                                : model::integrityOf(trace->findings()) });
        }
        if (const auto outline = opener->outline())
            answer.wrongDigests = model::wrongDigests(*outline, (*session)->devices());
        if (m_read.json)
            out.write(jsonLine(answer, answer));
        else
            printChecked(out, answer);
        for (const int device : answer.wrongDigests)
            err.line(printable(
                fmt::format("strata: {}: what strata summary says of {} is not what the events say: "
                            "convert the file to a new one, which says it anew",
                    file, deviceName(device))));
        return answer.exact() && answer.wrongDigests.empty() ? kDone : kFailed;
    }

private:
    ReadOptions m_read;
    RangeOptions m_range;
};

} // namespace

std::unique_ptr<Command> makeCheck()
{
    return std::make_unique<Check>();
}

} // namespace strata::cli
