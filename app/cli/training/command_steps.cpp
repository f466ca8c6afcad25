// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/cli/training/step_kind.h"
#include "model/analysis/training/steps/deep_check.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/timeline/curve.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::cli {

namespace {

using model::DeviceTrace;
using model::Phase;
using model::TrainingStep;
using model::TrainingSteps;

/// What the command tells of one device.
struct DeviceSteps {
    const DeviceTrace* trace;
    TrainingSteps found;
    model::Curve requested, reserved;
    std::vector<std::pair<const model::DeepStep*, model::DeepCheck>> deep;

    /// After the last event of a step; nothing where the recording does not tell.
    [[nodiscard]] std::optional<std::int64_t> reservedAt(const TrainingStep& step) const
    {
        return trace->totals().reservedKnown ? std::optional(reserved.at(step.last)) : std::nullopt;
    }
};

/// Those of this device.
std::vector<std::pair<const model::DeepStep*, model::DeepCheck>> deepStepsOf(const DeviceTrace& trace)
{
    std::vector<std::pair<const model::DeepStep*, model::DeepCheck>> found;
    if (const auto* const part = trace.recording().parts.find<model::DeepSteps>())
        for (const model::DeepStep& step : part->steps)
            if (step.device == trace.device())
                found.emplace_back(&step, model::checkDeepStep(trace, step));
    return found;
}

/// The number of the step that a deep one is; none: no step ends or begins where it does.
std::optional<std::int64_t> numberOf(const model::DeepStep& deep, const TrainingSteps& found)
{
    const model::EventIndex middle = deep.beginEvent + (deep.endEvent - deep.beginEvent) / 2;
    const auto step = std::ranges::find_if(
        found.steps, [&](const TrainingStep& each) { return each.first <= middle && middle <= each.last; });
    return step == found.steps.end() ? std::nullopt : std::optional(step->number);
}

/// Nothing where there are none, as in most recordings.
void writeDeepSteps(JsonWriter& json, const DeviceSteps& told)
{
    if (told.deep.empty())
        return;
    const model::StringTable& strings = told.trace->recording().strings;
    json.key("deep_steps").beginArray();
    for (const auto& [step, check] : told.deep) {
        json.beginObject()
            .member("step", numberOf(*step, told.found))
            .member("first_event", step->beginEvent)
            .member("last_event", step->endEvent - 1)
            .member("usable", model::isUsable(*step, check))
            .member("likeness", model::likenessWord(check.likeness))
            .member("differs_at_event", check.differsAt < 0 ? std::nullopt : std::optional(check.differsAt))
            .member("why", model::sayDeepCheck(*step, check, strings).text())
            .member("operators", check.operators)
            .member("saved_tensors", check.saved)
            .member("module_calls", check.modules)
            .endObject();
    }
    json.endArray();
}

void printDeepSteps(Output& out, const DeviceSteps& told)
{
    for (const auto& [step, check] : told.deep) {
        const auto number = numberOf(*step, told.found);
        out.line(fmt::format("  {} was seen deeply, {}, {}, {}: {}",
            number ? fmt::format("step {}", model::formatCount(*number)) : std::string("a step"),
            model::sayCounted("%1 operator", "%1 operators", check.operators).text(),
            model::sayCounted("%1 saved tensor", "%1 saved tensors", check.saved).text(),
            model::sayCounted("%1 call of a module", "%1 calls of modules", check.modules).text(),
            printable(model::sayDeepCheck(*step, check, told.trace->recording().strings).text())));
    }
}

model::CurveRange peakOf(const DeviceSteps& told, const TrainingStep& step)
{
    return told.requested.range(step.first, step.last);
}

void writeTrainingStep(JsonWriter& json, const DeviceSteps& told, const TrainingStep& step)
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

void writeStepsJson(Output& out, const std::vector<DeviceSteps>& devices)
{
    JsonWriter json;
    json.beginObject().member("schema", 1).key("devices").beginArray();
    for (const DeviceSteps& told : devices) {
        json.beginObject()
            .member("device", told.trace->device())
            .member("evidence", model::evidenceWord(told.found.evidence))
            .key("steps")
            .beginArray();
        for (const TrainingStep& step : told.found.steps)
            writeTrainingStep(json, told, step);
        json.endArray();
        writeDeepSteps(json, told);
        json.endObject();
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
        std::vector<DeviceSteps> devices;
        bool any = false;
        for (const DeviceTrace* const trace : *traces) {
            auto found = model::findTrainingSteps(*trace, model::Clock(*trace));
            if (!found)
                return model::Failure(found.error());
            any = any || !found->steps.empty();
            devices.push_back({ trace, std::move(*found), model::Curve(*trace, model::CurveKind::Requested),
                model::Curve(*trace, model::CurveKind::Reserved), deepStepsOf(*trace) });
        }
        if (m_read.json)
            writeStepsJson(out, devices);
        else
            print(out, file, devices);
        return any ? kDone : kFailed;
    }

private:
    void print(Output& out, const std::string& file, const std::vector<DeviceSteps>& devices) const
    {
        for (const DeviceSteps& told : devices) {
            const auto& steps = told.found.steps;
            const auto trained = std::ranges::count(steps, model::StepKind::Train, &TrainingStep::kind);
            out.line(fmt::format("{}: {}: {} of training, {}", out.strong(printable(file)),
                deviceName(told.trace->device()),
                trained == 0 && !steps.empty() ? std::string("no step")
                                               : model::sayCounted("%1 step", "%1 steps", trained).text(),
                sentenceOf(told.found.evidence)));
            printDeepSteps(out, told);
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
