// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/segments_told.h"
#include "app/cli/text.h"
#include "app/cli/training_option.h"
#include "app/cli/whatif_report.h"
#include "model/base/units.h"
#include "model/whatif/batch_items.h"
#include "model/whatif/predict.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

namespace {

using model::DeviceTrace;
using model::say;

/// A recording that takes part, with what is made of its devices as they are asked for.
class TakenRecording {
public:
    TakenRecording(std::shared_ptr<const model::Session> session, std::optional<std::int64_t> items)
        : m_session(std::move(session))
        , m_items(items)
    {
    }

    [[nodiscard]] const model::Session& session() const { return *m_session; }

    /// `training`: steps and categories too. What it points to stays until the next call.
    [[nodiscard]] model::Result<model::RecordedRun> run(
        const DeviceTrace& trace, const TrainingOption* training)
    {
        if (const auto told = tellsOfSegments(trace.recording(), trace.device()); !told)
            return model::Failure(told.error());
        auto report = model::checkReplay(trace);
        if (!report)
            return model::Failure(report.error());
        m_report = std::move(*report);
        model::RecordedRun run{ .trace = &trace, .report = &m_report, .batchItems = m_items };
        if (training != nullptr) {
            auto made = training->of(trace);
            if (!made)
                return model::Failure(made.error());
            m_training = std::move(*made);
            run.steps = &m_training.steps;
            run.categories = &m_training.categories;
            if (!m_items)
                run.batchItems = model::batchItemsOf(trace, m_training.steps, m_training.categories);
        }
        return run;
    }

private:
    std::shared_ptr<const model::Session> m_session;
    std::optional<std::int64_t> m_items;
    model::ReplayReport m_report;
    Training m_training;
};

class WhatIf final : public FileCommand {
public:
    WhatIf()
        : FileCommand("whatif", "What the peak would be, and where it would fit, if the program were another")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        m_read.declare(app, ReadOptions::Devices::All);
        app.add_option("--change", m_changes,
               "What is another: batch=N items, or batch=xF times as many; checkpoint=CLASS or "
               "checkpoint=path:GLOB, modules behind checkpoints, or checkpoint=none; one after the other")
            ->type_name("KIND=VALUE")
            ->allow_extra_args(false);
        app.add_option("--set", m_settings,
               "Settings of the allocator, all of them, as in PYTORCH_CUDA_ALLOC_CONF; \"\": the defaults")
            ->type_name("SETTINGS");
        m_capacity.declare(app);
        app.add_option("--with", m_with,
               "A recording of the same program with another batch, which tells each size; a third one says "
               "whether sizes go linearly")
            ->type_name("FILE")
            ->allow_extra_args(false);
        app.add_option("--batch-of", m_batches,
               "How many items the batch has, of FILE and of each --with, as 8,16; else what shapes of "
               "operators tell, where they were recorded")
            ->type_name("N")
            ->delimiter(',')
            ->check(CLI::Range(1, 1 << 30));
        app.add_option("--max-peak", m_maxPeakText, "Exit code 1 if it would reserve more")
            ->type_name("SIZE");
        m_training.declare(app);
        app.footer(R"(
Examples:
  strata whatif run.strata --change batch=x2 --batch-of 8
  strata whatif run.strata --change checkpoint=Block

Exit codes:
  0 done   1 nothing supports an answer, or over --max-peak   2 bad usage   3 unreadable)");
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
        if (!m_batches.empty() && m_batches.size() != 1 + m_with.size())
            return refuse(say("--batch-of has %1 numbers for %2 recordings",
                              static_cast<std::int64_t>(m_batches.size()),
                              static_cast<std::int64_t>(1 + m_with.size())),
                say("give one for FILE and one for each --with, in their order"));
        if (m_scenario.changes.empty() && (!m_with.empty() || !m_batches.empty()))
            return refuse(
                say("--with and --batch-of need --change"), say("say what changes, as --change batch=x2"));
        if (!m_maxPeakText.empty()) {
            m_maxPeak = model::parseBytes(m_maxPeakText);
            if (!m_maxPeak || *m_maxPeak <= 0)
                return refuse(say("--max-peak does not understand '%1'", m_maxPeakText),
                    say("give bytes, or a size as 70GiB"));
        }
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
        std::vector<WhatIfTold> devices;
        for (const DeviceTrace* trace : *traces) {
            if (!m_scenario.changes.empty())
                m_training.tell(*trace, err);
            auto told = predictOn(*trace, recordings);
            if (!told && told.error().kind == model::Error::Kind::Refused)
                return refused(file, told.error(), out, err);
            if (!told)
                return model::Failure(told.error());
            devices.push_back(std::move(*told));
        }
        if (m_read.json) {
            JsonWriter json;
            writeWhatIf(json, devices, m_scenario, {});
            out.write(json.text());
        } else {
            for (const WhatIfTold& told : devices)
                printWhatIf(out, file, told, m_scenario, m_maxPeak);
        }
        const bool over = m_maxPeak && std::ranges::any_of(devices, [&](const WhatIfTold& told) {
            return neededBytes(told.prediction) > *m_maxPeak;
        });
        return over ? kFailed : kDone;
    }

private:
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
                m_batches.empty() ? std::nullopt : std::optional<std::int64_t>(m_batches[i]));
        }
        return {};
    }

    model::Result<WhatIfTold> predictOn(
        const DeviceTrace& trace, std::vector<TakenRecording>& recordings) const
    {
        const TrainingOption* training = m_scenario.changes.empty() ? nullptr : &m_training;
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
        auto prediction = model::predict(runs, m_scenario);
        if (!prediction)
            return model::Failure(prediction.error());
        return WhatIfTold{ trace.device(), &trace, std::move(*prediction) };
    }

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
    std::optional<std::string> m_settings;
    CapacityOption m_capacity;
    std::vector<int> m_batches;
    std::string m_maxPeakText;
    std::optional<std::int64_t> m_maxPeak;
    TrainingOption m_training;
    model::Scenario m_scenario;
};

} // namespace

std::unique_ptr<Command> makeWhatIf()
{
    return std::make_unique<WhatIf>();
}

} // namespace strata::cli
