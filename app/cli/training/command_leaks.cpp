// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/analysis/summary/recorded_card.h"
#include "model/analysis/training/leaks/leak_rate.h"
#include "model/analysis/training/leaks/leaks_answer.h"
#include "model/analysis/training/steps/evidence_words.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace strata::cli {

namespace {

using model::DeviceTrace;
using model::LeakReport;
using model::LeaksAnswer;
using model::LeakSite;

std::string nameOf(const LeaksAnswer& answer, const LeakSite& site)
{
    const auto module = answer.moduleOf(site);
    const std::string in = module ? fmt::format(", module {}", printable(*module)) : "";
    if (site.stack.valid())
        return printable(answer.lineOf(site)) + in;
    if (!site.place)
        return "the whole device";
    std::string name = "no stack recorded";
    if (site.place->ordinal)
        name += fmt::format(", allocation {} of a step", model::formatCount(*site.place->ordinal));
    if (site.place->requestedBytes)
        name += ", " + model::formatExactBytes(*site.place->requestedBytes);
    return name + in;
}

void printRows(Output& out, const LeaksAnswer& answer, std::span<const LeakSite> sites)
{
    Table table({ { "allocated per step" }, { "blocks" }, { "since step" }, { "steps left" },
        { "", Table::Align::Left }, { "", Table::Align::Left } });
    for (const LeakSite& site : sites) {
        const model::LeakRate rate = model::rateOf(site);
        const model::Sentence other = model::otherBytes(rate);
        const std::string bytes = model::formatBytes(rate.bytes);
        table.add({ rate.bytes <= 0 ? std::string("-")
                : other.empty()     ? bytes
                                    : bytes + " " + other.text(),
            site.blocksPerStep > 0 ? model::formatFigure(site.blocksPerStep) : "-",
            model::formatCount(site.firstStep), site.stepsToOom ? model::formatCount(*site.stepsToOom) : "-",
            std::string(model::leakKindWord(site.kind)), nameOf(answer, site) });
    }
    table.print(out);
}

void printLeaks(Output& out, const LeaksAnswer& answer, std::size_t rows)
{
    const LeakReport& report = answer.report;
    const bool found = report.verdict == LeakReport::Verdict::Found;
    const std::string steps = report.steps == 0
        ? "no steps"
        : fmt::format("{}{}, the first {} of them warm-up; {}",
            report.certainty == model::Certainty::Likely ? "probably " : "",
            (report.rounds ? model::sayCounted("%1 round of a loop", "%1 rounds of a loop", report.steps)
                           : model::sayCounted("%1 step", "%1 steps", report.steps))
                .text(),
            model::formatCount(report.warmup), model::evidenceSentence(report.evidence).text());
    out.line(fmt::format("{}: {}: {}", out.strong(printable(answer.file)), deviceName(report.device), steps));
    const char* const verdict = found                      ? "leaks: "
        : report.verdict == LeakReport::Verdict::Undecided ? "undecided: "
                                                           : "no leak: ";
    const std::string sentence = verdict + printable(report.why.text());
    out.line("  " + (found ? out.bad(sentence) : sentence));
    if (report.stepsToOom)
        out.line(fmt::format("  at most {} more steps fit into the {} of the device",
            model::formatCount(*report.stepsToOom), model::formatBytes(*report.capacityBytes)));
    if (!report.compared && answer.trace->outOfMemories().empty())
        out.line("  Let the program make more steps: " + printable(model::recordAgain(answer.trace->recording())));
    if (report.sites.empty())
        return;
    const auto shown = std::span(report.sites).first(std::min(rows, report.sites.size()));
    out.line("");
    printRows(out, answer, shown);
    if (shown.size() < report.sites.size())
        out.line(
            out.faint(fmt::format("  and {} more: --limit 0 shows all", report.sites.size() - shown.size())));
    std::string said;
    for (const LeakSite& site : shown) {
        std::string text = printable(site.pattern.text()) + " (" + printable(site.why.text()) + ")";
        if (!site.change.empty())
            text += "; " + printable(site.change.text());
        if (text == said)
            continue;
        said = text;
        out.line("");
        printParagraph(out, nameOf(answer, site) + ": " + text);
    }
}

class Leaks final : public FileCommand {
public:
    Leaks()
        : FileCommand("leaks", "What grows from step to step and is never freed, by whom and how fast")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        m_read.declare(app, ReadOptions::Devices::One);
        m_limit.declare(app, "sites");
        app.add_option("--max-growth", m_maxGrowth,
               "Fails with exit 1 if leaks keep more allocated bytes per step than this. For example 1MiB")
            ->type_name("BYTES");
        m_capacity.declare(app);
        app.footer(footer(Footer::ExitCodes));
    }

    model::Result<void> checkOptions() override
    {
        if (!m_maxGrowth.empty()) {
            m_maxGrowthBytes = model::parseBytes(m_maxGrowth);
            if (!m_maxGrowthBytes)
                return model::fail(model::Error::Kind::Usage,
                    model::say("--max-growth does not understand '%1'", m_maxGrowth),
                    model::say("give bytes a step with a unit, for example 1MiB"));
        }
        if (auto limit = m_limit.check(); !limit)
            return limit;
        return m_capacity.check();
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto opened = openTrace(file, m_read, err);
        if (!opened)
            return model::Failure(opened.error());
        const DeviceTrace& trace = *opened->trace;
        const auto steps = model::findTrainingSteps(trace, model::Clock(trace));
        if (!steps)
            return model::Failure(steps.error());
        auto report = model::findLeaks(trace, *steps, { .capacityBytes = m_capacity.bytes });
        if (!report)
            return model::Failure(report.error());
        const LeaksAnswer answer(file, trace, std::move(*report));
        if (m_read.json)
            out.write(jsonLine(answer, answer));
        else
            printLeaks(out, answer, static_cast<std::size_t>(m_limit.rows(false, out)));
        out.flush();
        if (!m_maxGrowthBytes)
            return kDone;
        if (!answer.report.compared) {
            err.line(printable(fmt::format("strata: {}: --max-growth has nothing to be held against: {}",
                file, answer.report.why.text())));
            return kFailed;
        }
        const std::int64_t growth = answer.report.allocatedBytesPerStep();
        if (growth <= *m_maxGrowthBytes)
            return kDone;
        err.line(printable(fmt::format(
            "strata: {}: leaks keep {} of allocated memory per step, {} more than --max-growth {}", file,
            model::formatBytes(growth), model::formatBytes(growth - *m_maxGrowthBytes),
            model::formatBytes(*m_maxGrowthBytes))));
        return kFailed;
    }

private:
    ReadOptions m_read;
    LimitOption m_limit;
    CapacityOption m_capacity;
    std::string m_maxGrowth;
    std::optional<std::int64_t> m_maxGrowthBytes;
};

} // namespace

std::unique_ptr<Command> makeLeaks()
{
    return std::make_unique<Leaks>();
}

} // namespace strata::cli
