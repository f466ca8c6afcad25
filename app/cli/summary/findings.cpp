// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/summary/findings.h"

#include "app/cli/report.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <fmt/format.h>

namespace strata::cli {

using model::Finding;

namespace {

void writeRows(JsonWriter& json, const std::vector<const Finding*>& rows, bool counts)
{
    json.beginArray();
    for (const Finding* finding : rows) {
        json.beginObject();
        json.member("check", model::checkName(finding->check)).member("event", finding->event);
        json.member("bytes", finding->bytes).member("cause", finding->cause.text());
        if (counts)
            json.member("count", finding->count);
        json.endObject();
    }
    json.endArray();
}

} // namespace

Integrity integrityOf(std::span<const Finding> findings)
{
    Integrity integrity;
    for (const Finding& finding : findings)
        (model::isBreach(finding.check) ? integrity.breaches : integrity.notes).push_back(&finding);
    return integrity;
}

Integrity integrityOf(const model::DeviceTrace& trace, EventRange range)
{
    Integrity integrity;
    for (const Finding& finding : trace.findings()) {
        if (finding.event >= range.from && finding.event <= range.to)
            (model::isBreach(finding.check) ? integrity.breaches : integrity.notes).push_back(&finding);
    }
    return integrity;
}

void writeFindings(JsonWriter& json, const Integrity& integrity, bool counts)
{
    json.key("breaches");
    writeRows(json, integrity.breaches, counts);
    json.key("notes");
    writeRows(json, integrity.notes, counts);
}

void printFindings(Output& out, const Integrity& integrity)
{
    const auto print = [&](const Finding& finding, const std::string& kind) {
        std::string where
            = finding.event < 0 ? "at the start" : fmt::format("event {}", model::formatCount(finding.event));
        if (finding.bytes != 0)
            where += ", " + model::formatBytes(finding.bytes);
        out.line(fmt::format("  {}  {} ({}), {}", kind, model::checkSentence(finding.check).text(), where,
            out.faint(std::string(model::checkName(finding.check)))));
        if (!finding.cause.empty())
            out.line(fmt::format("          {}", finding.cause.text()));
    };
    for (const Finding* finding : integrity.breaches)
        print(*finding, out.bad("breach"));
    for (const Finding* finding : integrity.notes)
        print(*finding, out.faint("note  "));
}

} // namespace strata::cli
