// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/step_kind.h"
#include "app/cli/text.h"
#include "model/analysis/training/training_steps.h"
#include "model/base/units.h"
#include "model/timeline/curve.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>

namespace strata::cli {

namespace {

using model::DeviceTrace;
using model::Phase;
using model::TrainingStep;
using model::TrainingSteps;

/// What the command tells of one device.
struct Told {
    const DeviceTrace* trace;
    TrainingSteps found;
    model::Curve requested, reserved;

    /// After the last event of a step; nothing where the recording does not tell.
    [[nodiscard]] std::optional<std::int64_t> reservedAt(const TrainingStep& step) const
    {
        return trace->totals().reservedKnown ? std::optional(reserved.at(step.last)) : std::nullopt;
    }
};

model::CurveRange peakOf(const Told& told, const TrainingStep& step)
{
    return told.requested.range(step.first, step.last);
}

void writeStep(JsonWriter& json, const Told& told, const TrainingStep& step)
{
    json.beginObject()
        .member("step", step.number)
        .member("kind", model::stepKindWord(step.kind))
        .member("warmup", step.warmup)
        .member("micro_steps", step.microSteps)
        .member("first_event", step.first)
        .member("last_event", step.last)
        .key("phases")
        .beginArray();
    for (const model::PhaseSpan& span : step.phases)
        json.beginObject()
            .member("kind", model::phaseWord(span.phase))
            .member("first_event", span.first)
            .member("last_event", span.last)
            .endObject();
    const model::CurveRange peak = peakOf(told, step);
    json.endArray()
        .member("requested_bytes_peak", peak.max)
        .member("peak_event", peak.maxEvent)
        .member("requested_bytes_end", told.requested.at(step.last))
        .member("reserved_bytes", told.reservedAt(step))
        .endObject();
}

void writeJson(Output& out, const std::vector<Told>& devices)
{
    JsonWriter json;
    json.beginObject().member("schema", 1).key("devices").beginArray();
    for (const Told& told : devices) {
        json.beginObject()
            .member("device", told.trace->device())
            .member("evidence", model::evidenceWord(told.found.evidence))
            .key("steps")
            .beginArray();
        for (const TrainingStep& step : told.found.steps)
            writeStep(json, told, step);
        json.endArray().endObject();
    }
    json.endArray().endObject().endLine();
    out.write(json.text());
}

std::string_view sentenceOf(model::StepEvidence evidence)
{
    switch (evidence) {
    case model::StepEvidence::Ranges:
        return "told by its optimizers";
    case model::StepEvidence::Bits:
        return "told by what autograd did";
    case model::StepEvidence::Marks:
        return "as the program named them";
    case model::StepEvidence::Frames:
        return "told by stacks";
    case model::StepEvidence::Rhythm:
        return "told by what comes and goes again and again: a guess";
    case model::StepEvidence::None:
        break;
    }
    return "nothing tells where they end";
}

/// "forward 412, backward 388": how many events each phase of a step has.
std::string phasesOf(const TrainingStep& step)
{
    std::array<std::int64_t, model::kPhases> events{};
    for (const model::PhaseSpan& span : step.phases)
        events[static_cast<std::size_t>(span.phase)] += span.last - span.first + 1;
    std::string text;
    for (const Phase phase :
        { Phase::Forward, Phase::Backward, Phase::Recompute, Phase::Optimizer, Phase::NoGrad })
        if (const std::int64_t count = events[static_cast<std::size_t>(phase)]; count > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                phase == Phase::NoGrad ? "no grad" : model::phaseWord(phase), model::formatCount(count));
    return text;
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
        std::vector<Told> devices;
        bool any = false;
        for (const DeviceTrace* const trace : *traces) {
            auto found = model::findTrainingSteps(*trace, model::Clock(*trace));
            if (!found)
                return model::Failure(found.error());
            any = any || !found->steps.empty();
            devices.push_back({ trace, std::move(*found), model::Curve(*trace, model::CurveKind::Requested),
                model::Curve(*trace, model::CurveKind::Reserved) });
        }
        if (m_read.json)
            writeJson(out, devices);
        else
            print(out, file, devices);
        return any ? kDone : kFailed;
    }

private:
    void print(Output& out, const std::string& file, const std::vector<Told>& devices) const
    {
        for (const Told& told : devices) {
            const auto& steps = told.found.steps;
            const auto trained = std::ranges::count(steps, model::StepKind::Train, &TrainingStep::kind);
            out.line(fmt::format("{}: {}: {} of training, {}", out.strong(printable(file)),
                deviceName(told.trace->device()),
                trained == 0 && !steps.empty() ? std::string("no step")
                                               : model::sayCounted("%1 step", "%1 steps", trained).text(),
                sentenceOf(told.found.evidence)));
            if (steps.empty())
                continue;
            Table table({ { "step" }, { "kind", Table::Align::Left }, { "events" }, { "peak" },
                { "at event" }, { "reserved" }, { "events of phases", Table::Align::Left } });
            const auto limit = m_limit.rows(false, out);
            const auto shown
                = limit == 0 ? std::ssize(steps) : std::min<std::int64_t>(limit, std::ssize(steps));
            for (std::int64_t i = 0; i < shown; ++i) {
                const TrainingStep& step = steps[static_cast<std::size_t>(i)];
                const model::CurveRange peak = peakOf(told, step);
                const auto reserved = told.reservedAt(step);
                table.add({ model::formatCount(step.number), stepKindText(step),
                    model::formatCount(step.last - step.first + 1), model::formatBytes(peak.max),
                    model::formatCount(peak.maxEvent),
                    reserved ? model::formatBytes(*reserved) : std::string("-"), phasesOf(step) });
            }
            table.print(out);
            if (shown < std::ssize(steps))
                out.line(fmt::format(
                    "  {} more steps (--limit 0 prints all)", model::formatCount(std::ssize(steps) - shown)));
        }
    }

    ReadOptions m_read;
    LimitOption m_limit;
};

} // namespace

std::unique_ptr<Command> makeSteps()
{
    return std::make_unique<Steps>();
}

} // namespace strata::cli
