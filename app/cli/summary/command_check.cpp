// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/options.h"
#include "app/cli/summary/findings.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/digest/compare.h"
#include "model/session/opener.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace strata::cli {

namespace {

struct Checked {
    const model::DeviceTrace* trace;
    Integrity integrity;
};

void writeCheckJson(Output& out, const std::string& file, const std::vector<Checked>& devices, bool exact,
    const std::vector<int>& wrongDigests)
{
    JsonWriter json;
    json.beginObject().member("schema", 1).member("file", file).member("exact", exact);
    json.key("devices").beginArray();
    for (const Checked& checked : devices) {
        json.beginObject()
            .member("device", checked.trace->device())
            .member("exact", checked.integrity.exact());
        writeFindings(json, checked.integrity, true);
        json.endObject();
    }
    json.endArray().key("wrong_digests").beginArray();
    for (const int device : wrongDigests)
        json.value(device);
    json.endArray().endObject().endLine();
    out.write(json.text());
}

void printChecked(Output& out, const std::string& file, const std::vector<Checked>& devices, bool exact)
{
    out.line(fmt::format("{}: {}", out.strong(printable(file)),
        exact ? out.good("totals are exact") : out.bad("totals are not exact")));
    for (const Checked& checked : devices) {
        if (checked.integrity.exact() && checked.integrity.notes.empty())
            continue;
        if (devices.size() > 1)
            out.line(deviceName(checked.trace->device()));
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

        const bool ranged = m_range.given();
        std::vector<Checked> devices;
        bool exact = true;
        for (const model::DeviceTrace* trace : *traces) {
            const auto range = parseRange(*trace, m_range);
            if (!range)
                return model::Failure(range.error());
            devices.push_back(
                { trace, ranged ? integrityOf(*trace, *range) : integrityOf(trace->findings()) });
            exact = exact && devices.back().integrity.exact();
        }
        const auto outline = opener->outline();
        const std::vector<int> wrong
            = outline ? model::wrongDigests(*outline, (*session)->devices()) : std::vector<int>();
        if (m_read.json)
            writeCheckJson(out, file, devices, exact, wrong);
        else
            printChecked(out, file, devices, exact);
        for (const int device : wrong)
            err.line(printable(
                fmt::format("strata: {}: what strata summary says of {} is not what the events say: "
                            "convert the file to a new one, which says it anew",
                    file, deviceName(device))));
        return exact && wrong.empty() ? kDone : kFailed;
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
