// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "app/cli/whatif/call_answers.h"
#include "app/cli/whatif/confirm.h"
#include "app/cli/whatif/report.h"
#include "app/cli/whatif/taken_recording.h"
#include "app/launch/command.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/cards/fits.h"
#include "model/tables/save_as.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/answer/predicted_bounds.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/calls/calls_again.h"
#include "model/whatif/calls/python_changes.h"
#include "model/whatif/plan/whatif_report.h"
#include "model/whatif/run/predicted_recording.h"
#include "model/whatif/run/run_replay.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <ranges>

namespace strata::cli {

namespace {

using model::ChangeKind;
using model::DeviceTrace;
using model::say;
using model::Sentence;

constexpr std::string_view kLargestBatch = model::fitGoalWord(model::FitGoal::LargestBatch),
                           kCheapest = model::fitGoalWord(model::FitGoal::Cheapest); // of --plan

std::string changeHelp()
{
    std::string help = "Change of the program; may be repeated, in any order of kinds";
    for (const model::ChangeKind* kind : model::changeKinds())
        help += fmt::format("{} {}: {}", kind == model::changeKinds().front() ? ":" : ";", kind->values,
            Sentence(kind->help).text());
    return help;
}

class WhatIf final : public FileCommand {
public:
    WhatIf()
        : FileCommand("whatif", "What the peak would be, and where it would fit, if the program were another")
    {
        m_program.example = "strata whatif run.strata --change batch=x2 --batch-of 8 --confirm -- python "
                            "train.py --batch {BATCH}";
        m_program.required = false;
        m_program.beside = say("each further recording goes behind a --with of its own, a command behind --");
    }

    ProgramWords* programWords() override { return &m_program; }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        m_read.declare(app, ReadOptions::Devices::All);
        app.add_option("--change", m_changes, changeHelp())->type_name("KIND=VALUE")->allow_extra_args(false);
        app.add_option("--set", m_settings,
               "Settings of the allocator, all of them, as in PYTORCH_CUDA_ALLOC_CONF; \"\": the defaults")
            ->type_name("SETTINGS");
        m_capacity.declare(app);
        app.add_option("--with", m_with,
               "A recording of the same program with another batch, or other sequences, which tells each "
               "size; "
               "a third one says whether sizes go linearly")
            ->type_name("FILE")
            ->allow_extra_args(false);
        app.add_option("--batch-of", m_batches,
               "How many items the batch has, of FILE and of each --with, as 8,16; else what shapes of "
               "operators tell, where they were recorded")
            ->type_name("N")
            ->delimiter(',')
            ->check(CLI::Range(1, 1 << 30));
        app.add_option("--sequence-of", m_lengths,
               "How long sequences are, of FILE and of each --with, as 512,1024, where they are what changes")
            ->type_name("N")
            ->delimiter(',')
            ->check(CLI::Range(1, 1 << 30));
        app.add_flag("--confirm", m_confirms,
            "Run the program that stands behind -- on a simulated card, as it was recorded and with the "
            "changes: the answer to the byte. {BATCH} in it stands for the items of the batch, {SEQUENCE} "
            "for the length of sequences. Without a program, make the calls of the recorded deep step again");
        m_python = app.add_option("--python", m_confirm.python,
                          "Of --confirm without a program: the Python whose PyTorch makes the calls, of the "
                          "recorded minor version (python3)")
                       ->type_name("PYTHON");
        m_steps = app.add_option("--steps", m_confirm.steps,
                         "Of --confirm: stop just before optimizer step K+1, instead of at the program's end")
                      ->type_name("K")
                      ->check(CLI::Range(1, 1 << 30));
        m_card = app.add_option("--card", m_confirm.card,
                        "Of --confirm: the card of the catalogue to simulate, instead of the recording's")
                     ->type_name("CARD");
        app.add_option("--plan", m_planText,
               "Which modules to checkpoint, at the least recompute, so that no more than this is reserved; "
               "or "
               "largest-batch, the largest that fits the device; or cheapest, what makes it fit at the least "
               "cost")
            ->type_name("PLAN");
        app.add_option("--among", m_plan.among,
               "Of --plan: modules that it may checkpoint, by class or as path:GLOB; else all")
            ->type_name("MODULES")
            ->allow_extra_args(false);
        app.add_flag("--alternatives", m_showsAlternatives,
            "And what one more change would come to, each on top of what is asked: other settings, half the "
            "batch and twice as much, checkpoints, another optimizer, what lies on the host");
        app.add_option(
               "--max-peak", m_maxPeakText, "Exit code 1 if it and the least CUDA context would need more")
            ->type_name("SIZE");
        app.add_option("-o,--output", m_output,
               "Writes the predicted run, or with --confirm the one that confirms it, to be opened as any "
               "recording: "
               "NAME.strata, or NAME.pickle for PyTorch's own tools")
            ->type_name("FILE");
        m_training.declare(app);
        app.footer(R"(
Examples:
  strata whatif run.strata --change batch=x2 --batch-of 8
  strata whatif run.strata --change sequence=4096 --sequence-of 1024,2048 --with longer.strata
  strata whatif run.strata --change checkpoint=Block
  strata whatif run.strata --change remove=train.py:57
  strata whatif run.strata --alternatives
  strata whatif run.strata --plan 20GiB
  strata whatif run.strata --change fsdp=8 --change batch=x2 --batch-of 8
  strata whatif run.strata --set expandable_segments:True --confirm -- python train.py
  strata whatif run.strata --change amp=bf16 --confirm --python ~/torch/bin/python

Exit codes:
  0 done   1 nothing supports an answer, the plan is not met, over --max-peak, or the program of --confirm
  failed   2 bad usage   3 unreadable)");
    }

    model::Result<void> checkOptions() override
    {
        const auto refuse = [](model::Sentence what, model::Sentence hint) {
            return model::fail(model::Error::Kind::Usage, std::move(what), std::move(hint));
        };
        for (const std::string& text : m_changes) {
            auto change = model::Change::parse(text);
            if (!change)
                return model::Failure(change.error());
            m_scenario.changes.push_back(std::move(*change));
        }
        m_scenario.settings = m_settings;
        if (const auto capacity = m_capacity.check(); !capacity)
            return capacity;
        m_scenario.capacityBytes = m_capacity.bytes;
        for (const auto& [option, numbers] :
            { std::pair("--batch-of", &m_batches), std::pair("--sequence-of", &m_lengths) })
            if (!numbers->empty() && numbers->size() != 1 + m_with.size())
                return refuse(say("%1 has %2 numbers for %3 recordings", option,
                                  static_cast<std::int64_t>(numbers->size()),
                                  static_cast<std::int64_t>(1 + m_with.size())),
                    say("give one for FILE and one for each --with, in their order"));
        if (!asksTraining() && m_planText.empty()
            && (!m_with.empty() || ((!m_batches.empty() || !m_lengths.empty()) && !m_confirms)))
            return refuse(say("--with, --batch-of and --sequence-of need --change"),
                say("say what changes, as --change batch=x2, or add --alternatives or --plan"));
        if (const auto plan = checkPlan(); !plan)
            return plan;
        if (!m_maxPeakText.empty()) {
            m_maxPeak = model::parseBytes(m_maxPeakText);
            if (!m_maxPeak || *m_maxPeak <= 0)
                return refuse(say("--max-peak does not understand '%1'", m_maxPeakText),
                    say("give bytes, or a size as 70GiB"));
        }
        if (const model::Change* const spread
            = model::firstThatDoes(m_scenario.changes, model::Does::Spreads);
            m_confirms && spread != nullptr)
            return refuse(
                say("--confirm does not run a program as one of many ranks: --change '%1'", spread->text),
                say("a program that is spread runs as one rank with strata dryrun --rank 0 --world-size N; "
                    "--change fsdp there spreads one that is not"));
        if (const model::Change* const written
            = model::firstOf(m_scenario.changes, &ChangeKind::isWrittenByHand);
            m_confirms && written != nullptr)
            return refuse(say("--confirm does not write into a program: --change '%1'", written->text),
                say("nobody but you can take out that line, or write the del: edit the program, and record "
                    "it again, or run it with strata dryrun"));
        if (const auto confirms = checkConfirm(); !confirms)
            return confirms;
        if (!m_output.empty())
            if (const auto format = model::savedFormat(m_output); !format)
                return model::Failure(format.error());
        return m_training.check();
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        std::vector<TakenRecording> recordings;
        if (const auto opened = openAll(file, recordings, err); !opened)
            return model::Failure(opened.error());
        const auto traces = chooseDevices(recordings.front().session(), m_read.device);
        if (!traces)
            return model::Failure(traces.error());
        if (!m_output.empty())
            if (const auto can = canWrite(file, traces->size()); !can)
                return model::Failure(can.error());
        model::WhatIfReport answer;
        ConfirmAsked asked = m_confirm;
        const bool isAsItIs = m_scenario.changes.empty();
        std::optional<model::Confirmation> ofPlan;
        if (!m_planText.empty()) {
            auto made = makePlan(*traces, recordings, ofPlan, err);
            if (!made && made.error().kind == model::Error::Kind::Refused)
                return refused(file, made.error(), out, err);
            if (!made)
                return model::Failure(made.error());
            answer.plan = *std::move(made);
        }
        for (const DeviceTrace* trace : *traces) {
            if (asksTraining() && m_planText.empty())
                m_training.tell(*trace, err);
            auto device = predictOn(*trace, recordings, asked);
            if (!device && device.error().kind == model::Error::Kind::Refused)
                return refused(file, device.error(), out, err);
            if (!device)
                return model::Failure(device.error());
            const bool isNeeded = answer.plan ? model::needsChanges(*answer.plan) : m_showsAlternatives;
            if (isAsItIs && isNeeded && !m_confirms)
                device->hints = model::callHints(*trace, file,
                    traces->size() > 1 || m_read.device ? std::optional(trace->device()) : std::nullopt);
            answer.devices.push_back(std::move(*device));
        }
        answer.scenario = m_scenario;
        // A line, or a module, may be of some of the GPUs.
        if (!m_confirms && std::ranges::all_of(answer.devices, [](const auto& of) { return !!of.refused; })) {
            const model::WhatIfDevice& first = answer.devices.front();
            return refused(file,
                answer.devices.size() > 1 ? refusedOf(first.trace->device(), *first.refused) : *first.refused,
                out, err);
        }
        if (ofPlan && m_output.empty())
            answer.devices.front().confirmation = std::move(ofPlan);
        else if (m_confirms) {
            const auto confirmed = confirmAll(answer, asked);
            const bool isRefused = !confirmed
                && (confirmed.error().kind == model::Error::Kind::Refused
                    || confirmed.error().kind == model::Error::Kind::NotFound);
            if (isRefused && answer.plan && asksCalls() && model::callListOf(*answer.devices.front().trace)
                && std::ranges::all_of(answer.devices, &model::WhatIfDevice::isAnswered))
                err.line("strata: the plan is not confirmed: " + printable(confirmed.error().what.text()));
            else if (isRefused)
                return refused(file, confirmed.error(), out, err);
            else if (!confirmed)
                return model::Failure(confirmed.error());
            for (const model::WhatIfDevice& device : answer.devices)
                if (!device.isAnswered())
                    return refused(file, notConfirmed(device), out, err);
        }
        if (m_read.json)
            out.write(jsonLine(answer));
        else {
            printWhatIf(out, file, answer, m_maxPeak);
            if (!m_output.empty())
                out.line(fmt::format("  the {} is in {}",
                    m_confirms ? "run with the change" : "predicted run", printable(m_output)));
        }
        const bool over
            = m_maxPeak && std::ranges::any_of(answer.devices, [&](const model::WhatIfDevice& device) {
                  return !device.isAnswered()
                      || model::fitOf(*m_maxPeak, device.neededBytes()) == model::Fit::No;
              });
        return over || !answer.planIsMet() ? kFailed : kDone;
    }

private:
    [[nodiscard]] model::Result<void> checkConfirm() const
    {
        const auto refuse = [](model::Sentence what, model::Sentence hint) {
            return model::fail(model::Error::Kind::Usage, std::move(what), std::move(hint));
        };
        if (m_confirms && m_program.words.empty() && m_steps->count() > 0)
            return refuse(say("--steps: calls are those of one step"), say("leave it out"));
        if (const model::Change* const calls
            = model::firstOf(m_scenario.changes, &ChangeKind::isToldByCallsAlone);
            m_confirms && !m_program.words.empty() && calls != nullptr)
            return refuse(say("nobody can write --change '%1' into a program from outside", calls->text),
                say("leave out what stands behind --: --confirm alone makes the calls of a deep step again"));
        if (m_python->count() > 0 && (!m_confirms || !m_program.words.empty()))
            return refuse(say("--python is of --confirm without a program"),
                m_confirms ? say("leave it out, or leave out what stands behind --") : say("add --confirm"));
        if (!m_confirms && !m_program.words.empty())
            return refuse(
                say("a program stands behind --, and nobody asked to run it"), say("add --confirm"));
        if (!m_confirms && (m_steps->count() > 0 || m_card->count() > 0))
            return refuse(say("--steps and --card are of --confirm"), say("add --confirm -- COMMAND"));
        if (m_confirms && !m_program.words.empty()) // before a large recording is read
            if (const auto command = launch::findCommand(m_program.words); !command)
                return model::Failure(command.error());
        return {};
    }

    [[nodiscard]] model::Result<void> checkPlan()
    {
        const auto refuse = [](model::Sentence what, model::Sentence hint) {
            return model::fail(model::Error::Kind::Usage, std::move(what), std::move(hint));
        };
        const bool isFit = m_planText == kLargestBatch || m_planText == kCheapest;
        if (!m_plan.among.empty() && (m_planText.empty() || isFit))
            return refuse(say("--among is of --plan SIZE"), say("add a budget, as --plan 20GiB"));
        if (m_planText.empty() || isFit)
            return {};
        const auto budget = model::parseBytes(m_planText);
        if (!budget || *budget <= 0)
            return refuse(say("--plan does not understand '%1'", m_planText),
                say("give bytes, or a size as 20GiB, or largest-batch, or cheapest"));
        m_plan.budgetBytes = *budget;
        return {};
    }

    /// What it plans becomes a part of the scenario.
    model::Result<model::AnyPlan> makePlan(const std::vector<const DeviceTrace*>& traces,
        std::vector<TakenRecording>& recordings, std::optional<model::Confirmation>& confirmed, Output& err)
    {
        if (traces.size() != 1)
            return model::fail(model::Error::Kind::Usage,
                say("a plan is of one GPU, and the recording has several"),
                say("say of which, with --device"));
        m_training.tell(*traces.front(), err);
        const auto runs = runsOn(*traces.front(), recordings, &m_training);
        if (!runs)
            return model::Failure(runs.error());
        auto plan = asksCalls()       ? planByCalls(*runs, confirmed)
            : m_plan.budgetBytes > 0  ? model::planWithin(*runs, m_scenario, m_plan)
            : m_planText == kCheapest ? model::planForCapacity(*runs, m_scenario)
                                      : largestBatch(*runs);
        if (!plan)
            return model::Failure(plan.error());
        if (const auto* const checkpoints = std::get_if<model::CheckpointPlan>(&*plan))
            std::ranges::move(checkpoints->changes(), std::back_inserter(m_scenario.changes));
        else
            m_scenario = std::get<model::FitPlan>(*plan).answer().with(m_scenario);
        return *std::move(plan);
    }

    /// Whether a plan or alternatives may make the recorded calls again.
    [[nodiscard]] bool asksCalls() const
    {
        return m_confirms && m_program.words.empty() && m_planText != kLargestBatch && m_plan.among.empty();
    }

    /// Of a plan that calls take part in; `confirmed` is that of its answer, if calls gave it.
    [[nodiscard]] model::Result<model::AnyPlan> planByCalls(
        const std::vector<model::RecordedRun>& runs, std::optional<model::Confirmation>& confirmed) const
    {
        model::Scenario within = m_scenario;
        if (m_plan.budgetBytes > 0)
            within.capacityBytes = std::min(m_plan.budgetBytes, model::kMostCapacityBytes);
        CallAnswers calls(runs, m_confirm, m_scenario, within.capacityBytes);
        auto plan = model::planWithCalls(
            runs, within, [&](model::FitOption option) { return calls.answer(std::move(option)); });
        if (!plan
            && plan.error().kind == model::Error::Kind::Refused) // nothing but checkpoints may have an answer
            return m_plan.budgetBytes > 0 ? model::planWithin(runs, m_scenario, m_plan)
                                          : model::planForCapacity(runs, m_scenario);
        if (!plan)
            return model::Failure(plan.error());
        confirmed = calls.confirmationOf(plan->answer());
        return *std::move(plan);
    }

    [[nodiscard]] model::Result<model::AnyPlan> largestBatch(
        const std::vector<model::RecordedRun>& runs) const
    {
        auto plan = model::planLargestBatch(runs, m_scenario);
        return plan ? model::Result<model::AnyPlan>(*std::move(plan)) : model::Failure(plan.error());
    }

    /// What the program comes to replaces what was made of the recording.
    model::Result<void> confirmAll(model::WhatIfReport& answer, ConfirmAsked& asked) const
    {
        asked.command = m_program.words;
        asked.output = m_output;
        if (asked.batchBefore) {
            const auto after = model::batchAfter(m_scenario.changes, *asked.batchBefore);
            if (!after)
                return model::Failure(after.error());
            asked.batchAfter = *after;
        }
        if (asked.sequenceBefore) {
            const auto after = model::sequenceAfter(m_scenario.changes, *asked.sequenceBefore);
            if (!after)
                return model::Failure(after.error());
            asked.sequenceAfter = *after;
        }
        auto confirmed = confirm(asked, m_scenario);
        if (!confirmed) {
            model::Error error = confirmed.error();
            if (error.where.empty())
                error.where = name();
            error.hint = hintToRun(*answer.devices.front().trace, std::move(error.hint));
            return model::Failure(std::move(error));
        }
        for (std::size_t i = 0; i < answer.devices.size(); ++i)
            answer.devices[i].confirmation = std::move((*confirmed)[i]);
        return {};
    }

    [[nodiscard]] model::Error refusedOn(const DeviceTrace& trace, model::Error error) const
    {
        error.hint = hintToRun(trace, std::move(error.hint));
        return error;
    }

    /// Where nothing recorded tells it, the program does, but for what nobody can write into one.
    [[nodiscard]] model::Hint hintToRun(const DeviceTrace& trace, model::Hint hint) const
    {
        const model::Change* const alone
            = model::firstOf(m_scenario.changes, &ChangeKind::isToldByCallsAlone);
        const bool isCpp = model::changeOfPython(trace, m_scenario) != nullptr;
        if ((alone == nullptr && !isCpp) || !hint.besidesRunning)
            return hint;
        if (!hint.besidesRunning->empty())
            return *hint.besidesRunning;
        if (isCpp)
            return model::hintToWriteByHand();
        return say("nobody can write --change '%1' into a program from outside: write it there yourself, and "
                   "record that",
            alone->text);
    }

    /// There is no estimate either.
    [[nodiscard]] model::Error notConfirmed(const model::WhatIfDevice& device) const
    {
        return { .kind = model::Error::Kind::Refused,
            .what = say("it is not confirmed: %1", model::verbatim(device.confirmation->note)),
            .hint = hintToRun(*device.trace, model::hintToConfirm()),
            .where = {} };
    }

    [[nodiscard]] model::Result<void> canWrite(const std::string& file, std::size_t devices) const
    {
        std::vector<std::string> taken = m_with;
        taken.push_back(file);
        std::error_code ignored;
        for (const std::string& path : taken)
            if (std::filesystem::equivalent(path, m_output, ignored))
                return model::fail(model::Error::Kind::Usage, say("a recording is not written over itself"),
                    say("give another name with -o"));
        if (devices > 1)
            return model::fail(model::Error::Kind::Usage,
                say("a prediction that is written is of one GPU, and the recording has several"),
                say("say of which, with --device"));
        return {};
    }

    /// The predicted run, as a recording.
    model::Result<void> write(const model::RecordedRun& recorded, const model::Prediction& prediction) const
    {
        auto recording = model::predictedRecording(recorded, m_scenario, prediction.run.get());
        if (!recording)
            return model::Failure(recording.error());
        model::tellBounds(**recording, prediction);
        const auto session = model::Session::fromRecording(std::move(*recording));
        if (!session)
            return model::Failure(session.error());
        return model::saveAs(**session, m_output);
    }

    model::Result<void> openAll(
        const std::string& file, std::vector<TakenRecording>& recordings, Output& err) const
    {
        for (std::size_t i = 0; i <= m_with.size(); ++i) {
            const std::string& path = i == 0 ? file : m_with[i - 1];
            auto session = openSession(path, m_read.force, err);
            if (!session) {
                model::Error error = session.error();
                error.where = path;
                return model::Failure(std::move(error));
            }
            recordings.emplace_back(std::move(*session),
                m_batches.empty() ? std::nullopt : std::optional<std::int64_t>(m_batches[i]),
                m_lengths.empty() ? std::nullopt : std::optional<std::int64_t>(m_lengths[i]));
        }
        return {};
    }

    /// Of one device, in each recording. What they point to stays until the next call.
    model::Result<std::vector<model::RecordedRun>> runsOn(const DeviceTrace& trace,
        std::vector<TakenRecording>& recordings, const TrainingOption* training) const
    {
        std::vector<model::RecordedRun> runs;
        for (std::size_t i = 0; i < recordings.size(); ++i) {
            const DeviceTrace* same = i == 0 ? &trace : recordings[i].session().find(trace.device());
            if (same == nullptr)
                return model::fail(model::Error::Kind::NotFound,
                    say("%1 has nothing of GPU %2", m_with[i - 1], trace.device()),
                    say("give a recording of the same program, or --device"));
            auto run = recordings[i].run(*same, training);
            if (!run) {
                model::Error error = run.error();
                if (i > 0)
                    error.where = m_with[i - 1];
                return model::Failure(std::move(error));
            }
            runs.push_back(*run);
        }
        return runs;
    }

    /// Of the first device `asked` learns what it is to be confirmed with.
    model::Result<model::WhatIfDevice> predictOn(
        const DeviceTrace& trace, std::vector<TakenRecording>& recordings, ConfirmAsked& asked) const
    {
        const auto taken = runsOn(trace, recordings, asksTraining() ? &m_training : nullptr);
        if (!taken)
            return model::Failure(taken.error());
        const std::vector<model::RecordedRun>& runs = *taken;
        const model::RecordedRun& first = runs.front();
        model::WhatIfDevice device;
        device.trace = &trace;
        device.prediction.recorded = model::recordedPeaks(first);
        device.stepTime = model::predictStepTime(runs, m_scenario);
        auto prediction = model::predict(model::takingPart(runs, m_scenario), m_scenario);
        if (prediction) {
            device.prediction = std::move(*prediction);
            if (!m_output.empty() && !m_confirms)
                if (const auto written = write(runs[device.prediction.recording], device.prediction);
                    !written)
                    return model::Failure(written.error());
        } else if (prediction.error().kind == model::Error::Kind::Refused)
            device.refused = refusedOn(trace, prediction.error());
        else
            return model::Failure(prediction.error());
        if (m_showsAlternatives && prediction) {
            device.alternatives = model::answerAlternatives(runs, m_scenario, device.prediction);
            if (asksCalls())
                if (const auto added
                    = CallAnswers(runs, m_confirm, m_scenario, {}).addTo(*device.alternatives);
                    !added)
                    return model::Failure(added.error());
        }
        takeDevice(runs, asked);
        return device;
    }

    /// Steps and categories, of which settings alone need none.
    [[nodiscard]] bool asksTraining() const { return m_showsAlternatives || !m_scenario.changes.empty(); }

    /// Nothing supports an answer: that is one too.
    int refused(const std::string& file, model::Error error, Output& out, Output& err) const
    {
        if (m_read.json)
            out.write(jsonLine(
                model::WhatIfReport{ .scenario = m_scenario, .devices = {}, .refused = error, .plan = {} }));
        error.where = file;
        printError(err, error);
        return kFailed;
    }

    ReadOptions m_read;
    std::vector<std::string> m_changes, m_with;
    std::string m_output;
    std::optional<std::string> m_settings;
    CapacityOption m_capacity;
    std::vector<int> m_batches, m_lengths;
    std::string m_planText;
    model::PlanAsked m_plan; // budget 0: nobody asked for one
    std::string m_maxPeakText;
    std::optional<std::int64_t> m_maxPeak;
    bool m_showsAlternatives = false;
    TrainingOption m_training;
    bool m_confirms = false;
    ConfirmAsked m_confirm; // as far as options tell
    ProgramWords m_program;
    const CLI::Option *m_steps = nullptr, *m_card = nullptr,
                      *m_python = nullptr; // of the app that reads the words, until check()
    model::Scenario m_scenario;
};

} // namespace

std::unique_ptr<Command> makeWhatIf()
{
    return std::make_unique<WhatIf>();
}

} // namespace strata::cli
