// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/cli/training/step_kind.h"
#include "model/analysis/training/steps/evidence_words.h"
#include "model/analysis/training/steps/steps_answer.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/trace/frames.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace strata::cli {

namespace {

using model::DeviceSteps;
using model::Phase;
using model::StepMemory;

void printDeepSteps(Output& out, const DeviceSteps& found)
{
    for (const model::DeepStepAnswer& deep : found.deep)
        out.line(fmt::format("  {} was seen deeply, {}, {}, {}: {}",
            deep.number ? fmt::format("step {}", model::formatCount(*deep.number)) : std::string("a step"),
            model::sayCounted("%1 operator", "%1 operators", deep.check.operators).text(),
            model::sayCounted("%1 saved tensor", "%1 saved tensors", deep.check.saved).text(),
            model::sayCounted("%1 call of a module", "%1 calls of modules", deep.check.modules).text(),
            printable(deep.why.text())));
}

/// "forward 412, backward 388": how many events each phase of a step has.
std::string phasesOf(const StepMemory& row)
{
    const auto events = row.eventsOfPhases();
    std::string text;
    for (const Phase phase :
        { Phase::Forward, Phase::Backward, Phase::Recompute, Phase::Optimizer, Phase::NoGrad })
        if (const std::int64_t count = events[static_cast<std::size_t>(phase)]; count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                phase == Phase::NoGrad ? "no grad" : model::phaseWord(phase), model::formatCount(count));
    return text;
}

/// "step 3, probably train: stack traces show ...", and a line for each phase.
void printWhy(Output& out, const StepMemory& row)
{
    if (!row.why)
        return;
    out.line(fmt::format("  step {}, {}: {}", stepNumberText(*row.step), stepKindText(*row.step),
        printable(row.why->rule.text())));
    for (const model::StepFrame& frame : row.why->frames)
        out.line(fmt::format("    {}: {}, {} in {}", model::phaseWord(frame.phase),
            model::sayCounted("%1 allocation", "%1 allocations", frame.allocations).text(),
            printable(model::frameFunction(*frame.frame.recording, frame.frame.id)),
            printable(model::frameLabel(*frame.frame.recording, frame.frame.id))));
}

class Steps final : public FileCommand {
public:
    Steps()
        : FileCommand("steps", "The steps of a training, the phases within them, and what each took")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        m_read.declare(app, ReadOptions::Devices::All);
        m_limit.declare(app, "steps");
        app.add_flag("--why", m_why, "For each step the rule, the stack frames and the counts that decided");
        app.footer(footer(Footer::ExitCodes));
    }

    model::Result<void> checkOptions() override { return m_limit.check(); }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto session = openSession(file, m_read.force, err);
        if (!session)
            return model::Failure(session.error());
        const auto traces = chooseDevices(**session, m_read.device);
        if (!traces)
            return model::Failure(traces.error());
        model::StepsAnswer answer;
        bool any = false;
        for (const model::DeviceTrace* const trace : *traces) {
            auto found = model::findTrainingSteps(*trace, model::Clock(*trace));
            if (!found)
                return model::Failure(found.error());
            any = any || !found->steps.empty();
            answer.devices.emplace_back(*trace, std::move(*found), m_why);
        }
        if (m_read.json)
            out.write(jsonLine(answer));
        else
            print(out, file, answer);
        return any ? kDone : kFailed;
    }

private:
    void print(Output& out, const std::string& file, const model::StepsAnswer& answer) const
    {
        for (const DeviceSteps& found : answer.devices) {
            const auto& steps = found.steps;
            const auto trained = std::ranges::count(
                steps, model::StepKind::Train, [](const StepMemory& row) { return row.step->kind; });
            const bool probably = trained > 0 && !model::isSure(found.training.certainty());
            out.line(fmt::format("{}: {}: {}{} of training, {}", out.strong(printable(file)),
                deviceName(found.device), probably ? "probably " : "",
                trained == 0 && !steps.empty() ? std::string("no step")
                                               : model::sayCounted("%1 step", "%1 steps", trained).text(),
                model::evidenceSentence(found.training).text()));
            printDeepSteps(out, found);
            if (steps.empty())
                continue;
            Table table({ { "step" }, { "kind", Table::Align::Left }, { "events" }, { "peak" },
                { "at event" }, { "reserved" }, { "events of phases", Table::Align::Left } });
            const auto limit = m_limit.rows(false, out);
            const auto shown
                = limit == 0 ? std::ssize(steps) : std::min<std::int64_t>(limit, std::ssize(steps));
            for (std::int64_t i = 0; i < shown; ++i) {
                const StepMemory& row = steps[static_cast<std::size_t>(i)];
                const model::TrainingStep& step = *row.step;
                table.add({ stepNumberText(step), stepKindText(step),
                    model::formatCount(step.last - step.first + 1), model::formatBytes(row.peak.max),
                    model::formatCount(row.peak.maxEvent),
                    row.reservedBytes ? model::formatBytes(*row.reservedBytes) : std::string("-"),
                    phasesOf(row) });
            }
            table.print(out);
            for (std::int64_t i = 0; i < shown; ++i)
                printWhy(out, steps[static_cast<std::size_t>(i)]);
            if (shown < std::ssize(steps))
                out.line(fmt::format(
                    "  {} more steps (--limit 0 prints all)", model::formatCount(std::ssize(steps) - shown)));
        }
    }

    ReadOptions m_read;
    LimitOption m_limit;
    bool m_why = false;
};

} // namespace

std::unique_ptr<Command> makeSteps()
{
    return std::make_unique<Steps>();
}

} // namespace strata::cli
