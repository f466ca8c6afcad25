// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "app/cli/whatif/alternatives_report.h"
#include "app/cli/whatif/confirm.h"
#include "app/cli/whatif/report.h"
#include "app/cli/whatif/taken_recording.h"
#include "app/launch/command.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/tables/save_as.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/answer/predicted_bounds.h"
#include "model/whatif/answer/python_changes.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/kinds/calls_again.h"
#include "model/whatif/plan/checkpoint_plan.h"
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

using model::DeviceTrace;
using model::say;

constexpr std::string_view kLargestBatch = "largest-batch", kCheapest = "cheapest"; // of --plan

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
        app.add_option("--change", m_changes,
               "What is another: batch=N items, or batch=xF times as many; sequence=N or sequence=xF, the "
               "length of sequences; checkpoint=CLASS or "
               "checkpoint=path:GLOB, modules behind checkpoints, or checkpoint=none; "
               "accumulate=K micro-steps; offload=activations, offload=activations:CLASS or "
               "offload=activations:path:GLOB, what is saved for backward lies on the host, or "
               "offload=optimizer; "
               "optimizer=NAME[,KEY=VALUE]... of "
               "torch.optim or bitsandbytes (AdamW8bit); remove=SITE, without the line that allocates there; "
               "free=last-use or "
               "free=SITE, let go of behind the last use; zero_grad=after-step, before-forward or "
               "before-backward, where gradients go; ddp=N, zero1=N or fsdp=N, as one of N ranks; of "
               "--confirm alone amp=bf16 or dtype=bf16 (also fp16), attention=math|efficient|flash|cudnn"
               "[,causal] and logits=chunks:N; one after the other")
            ->type_name("KIND=VALUE")
            ->allow_extra_args(false);
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
        app.add_option("--max-peak", m_maxPeakText, "Exit code 1 if it would reserve more")
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
        if (const auto spread = std::ranges::find_if(m_scenario.changes, &model::Change::spreads);
            m_confirms && spread != m_scenario.changes.end())
            return refuse(
                say("--confirm does not run a program as one of many ranks: --change '%1'", spread->text),
                say("a program that is spread runs as one rank with strata dryrun --rank 0 --world-size N; "
                    "--change fsdp there spreads one that is not"));
        if (const auto written = std::ranges::find_if(m_scenario.changes, &model::Change::isWrittenByHand);
            m_confirms && written != m_scenario.changes.end())
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
        std::vector<WhatIfTold> devices;
        WhatIfTold planned; // of which the plan counts
        if (!m_planText.empty()) {
            const auto made = makePlan(*traces, recordings, planned, err);
            if (!made && made.error().kind == model::Error::Kind::Refused)
                return refused(file, made.error(), out, err);
            if (!made)
                return model::Failure(made.error());
        }
        for (const DeviceTrace* trace : *traces) {
            if (asksTraining() && m_planText.empty())
                m_training.tell(*trace, err);
            auto told = predictOn(*trace, recordings);
            if (!told && told.error().kind == model::Error::Kind::Refused)
                return refused(file, told.error(), out, err);
            if (!told)
                return model::Failure(told.error());
            told->plan = planned.plan;
            told->fitPlan = planned.fitPlan;
            told->planMethod = m_planText;
            devices.push_back(std::move(*told));
        }
        // A line, or a module, may be of some of the GPUs.
        if (!m_confirms && std::ranges::all_of(devices, [](const auto& told) { return !!told.refused; })) {
            const WhatIfTold& first = devices.front();
            return refused(file,
                devices.size() > 1 ? refusedOf(first.device, *first.refused) : *first.refused, out, err);
        }
        if (m_confirms) {
            const auto confirmed = confirmAll(devices);
            if (!confirmed
                && (confirmed.error().kind == model::Error::Kind::Refused
                    || confirmed.error().kind == model::Error::Kind::NotFound))
                return refused(file, confirmed.error(), out, err);
            if (!confirmed)
                return model::Failure(confirmed.error());
            for (const WhatIfTold& told : devices)
                if (told.refused && !told.confirmed && told.notConfirmed)
                    return refused(file, notConfirmed(told), out, err);
        }
        if (m_read.json) {
            JsonWriter json;
            writeWhatIf(json, devices, m_scenario, {});
            out.write(json.text());
        } else {
            for (const WhatIfTold& told : devices)
                printWhatIf(out, file, told, m_scenario, m_maxPeak);
            if (!m_output.empty())
                out.line(fmt::format("  the {} is in {}",
                    m_confirms ? "run with the change" : "predicted run", printable(m_output)));
        }
        const bool over = m_maxPeak && std::ranges::any_of(devices, [&](const WhatIfTold& told) {
            return !isAnswered(told) || neededBytes(told) > *m_maxPeak;
        });
        const bool isMet
            = (!planned.plan || planned.plan->met) && (!planned.fitPlan || planned.fitPlan->met());
        return over || !isMet ? kFailed : kDone;
    }

private:
    [[nodiscard]] model::Result<void> checkConfirm() const
    {
        const auto refuse = [](model::Sentence what, model::Sentence hint) {
            return model::fail(model::Error::Kind::Usage, std::move(what), std::move(hint));
        };
        if (m_confirms && m_program.words.empty() && m_steps->count() > 0)
            return refuse(say("--steps: calls are those of one step"), say("leave it out"));
        if (const auto calls = std::ranges::find_if(m_scenario.changes, &model::Change::isToldByCallsAlone);
            m_confirms && !m_program.words.empty() && calls != m_scenario.changes.end())
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
    model::Result<void> makePlan(const std::vector<const DeviceTrace*>& traces,
        std::vector<TakenRecording>& recordings, WhatIfTold& planned, Output& err)
    {
        if (traces.size() != 1)
            return model::fail(model::Error::Kind::Usage,
                say("a plan is of one GPU, and the recording has several"),
                say("say of which, with --device"));
        m_training.tell(*traces.front(), err);
        const auto runs = runsOn(*traces.front(), recordings, &m_training);
        if (!runs)
            return model::Failure(runs.error());
        if (m_plan.budgetBytes > 0) {
            auto plan = model::planCheckpoints(*runs, m_scenario, m_plan);
            if (!plan)
                return model::Failure(plan.error());
            std::ranges::move(plan->changes(), std::back_inserter(m_scenario.changes));
            planned.plan = std::move(*plan);
            return {};
        }
        auto plan = m_planText == kCheapest ? model::planCheapest(*runs, m_scenario)
                                            : model::planLargestBatch(*runs, m_scenario);
        if (!plan)
            return model::Failure(plan.error());
        m_scenario = plan->options[plan->chosen].with(m_scenario);
        planned.fitPlan = std::move(*plan);
        return {};
    }

    /// What the program comes to replaces what was made of the recording.
    model::Result<void> confirmAll(std::vector<WhatIfTold>& devices) const
    {
        ConfirmAsked asked = m_confirm;
        asked.command = m_program.words;
        asked.output = m_output;
        const WhatIfTold& first = devices.front();
        asked.settings = first.settings;
        asked.capacityBytes = first.capacityBytes;
        asked.batchBefore = first.batchItems;
        asked.others = first.others;
        if (first.batchItems) {
            const auto after = model::batchAfter(m_scenario.changes, *first.batchItems);
            if (!after)
                return model::Failure(after.error());
            asked.batchAfter = *after;
        }
        asked.sequenceBefore = first.sequenceLength;
        if (first.sequenceLength) {
            const auto after = model::sequenceAfter(m_scenario.changes, *first.sequenceLength);
            if (!after)
                return model::Failure(after.error());
            asked.sequenceAfter = *after;
        }
        for (const WhatIfTold& told : devices)
            asked.devices.push_back(
                { told.trace, told.prediction.recorded, told.firstStep, told.stepWithin });
        auto confirmed = confirm(asked, m_scenario);
        if (!confirmed) {
            model::Error error = confirmed.error();
            if (error.where.empty())
                error.where = name();
            error.hint = hintToRun(*first.trace, std::move(error.hint));
            return model::Failure(std::move(error));
        }
        for (std::size_t i = 0; i < devices.size(); ++i)
            if ((*confirmed)[i].isConfirmed)
                devices[i].confirmed = std::move((*confirmed)[i]);
            else
                devices[i].notConfirmed = std::move((*confirmed)[i]);
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
        const auto alone = std::ranges::find_if(m_scenario.changes, &model::Change::isToldByCallsAlone);
        const bool isCpp = model::changeOfPython(trace, m_scenario) != nullptr;
        if ((alone == m_scenario.changes.end() && !isCpp) || !hint.besidesRunning)
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
    [[nodiscard]] model::Error notConfirmed(const WhatIfTold& told) const
    {
        return { .kind = model::Error::Kind::Refused,
            .what = say("it is not confirmed: %1", model::verbatim(told.notConfirmed->note)),
            .hint = hintToRun(*told.trace, model::hintToConfirm()),
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

    model::Result<WhatIfTold> predictOn(
        const DeviceTrace& trace, std::vector<TakenRecording>& recordings) const
    {
        const auto taken = runsOn(trace, recordings, asksTraining() ? &m_training : nullptr);
        if (!taken)
            return model::Failure(taken.error());
        const std::vector<model::RecordedRun>& runs = *taken;
        const model::RecordedRun& first = runs.front();
        WhatIfTold told{ .device = trace.device(),
            .trace = &trace,
            .batchItems = first.batchItems,
            .sequenceLength = first.sequenceLength,
            .settings = first.report->settingsText,
            .capacityBytes = first.report->capacityBytes };
        told.firstStep = model::firstStepOf(first);
        told.stepWithin = model::stepWithinCalls(first);
        for (const model::RecordedRun& run : runs | std::views::drop(1))
            told.others.push_back({ run.trace, model::firstStepOf(run), run.batchItems });
        told.prediction.recorded = model::recordedPeaks(first);
        told.stepTime = model::predictStepTime(runs, m_scenario);
        auto prediction = model::predict(takingPart(runs, m_scenario), m_scenario);
        if (prediction) {
            told.prediction = std::move(*prediction);
            if (!m_output.empty() && !m_confirms)
                if (const auto written = write(runs[told.prediction.recording], told.prediction); !written)
                    return model::Failure(written.error());
        } else if (prediction.error().kind == model::Error::Kind::Refused)
            told.refused = refusedOn(trace, prediction.error());
        else
            return model::Failure(prediction.error());
        if (m_showsAlternatives && prediction)
            told.alternatives = alternativesOn(runs, m_scenario, told.prediction);
        return told;
    }

    /// Steps and categories, of which settings alone need none.
    [[nodiscard]] bool asksTraining() const { return m_showsAlternatives || !m_scenario.changes.empty(); }

    /// Nothing supports an answer: that is one too.
    int refused(const std::string& file, model::Error error, Output& out, Output& err) const
    {
        if (m_read.json) {
            JsonWriter json;
            writeWhatIf(json, {}, m_scenario, error.text());
            out.write(json.text());
        }
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
