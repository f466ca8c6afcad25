// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/training/ledger_report.h"
#include "app/cli/training/training_option.h"
#include "model/analysis/allocator/replay.h"
#include "model/timeline/live_index.h"

#include <CLI/CLI.hpp>

namespace strata::cli {

namespace {

class LedgerCommand final : public FileCommand {
public:
    LedgerCommand()
        : FileCommand("ledger", "What the memory is for: parameters, gradients, activations, ...")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        m_instant.declare(app);
        m_read.declare(app, ReadOptions::Devices::One);
        app.add_option("--by", m_by, "category (default) or module")->type_name("GROUP");
        app.add_flag("--why", m_why, "for each category its rules, how sure they are, and what decided");
        m_limit.declare(app, "modules");
        m_training.declare(app);
        app.footer(footer(Footer::Positions));
    }

    model::Result<void> checkOptions() override
    {
        if (m_by != "category" && m_by != "module")
            return model::fail(model::Error::Kind::Usage, model::say("--by does not know '%1'", m_by),
                model::say("give %1", "category or module"));
        if (const auto limit = m_limit.check(); !limit)
            return limit;
        return m_training.check();
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto opened = openTrace(file, m_read, err);
        if (!opened)
            return model::Failure(opened.error());
        const model::DeviceTrace& trace = *opened->trace;
        const model::EventIndex peak = trace.totals().requestedPeakEvent;
        const auto instant = m_instant.of(trace);
        if (!instant)
            return model::Failure(instant.error());
        const model::EventIndex event = *instant;
        const auto training = m_training.of(trace);
        if (!training)
            return model::Failure(training.error());
        const auto report = model::checkReplay(trace);
        m_training.tell(trace, err);
        const std::vector<model::BlockId> active = model::activeBlocks(trace, event);
        model::LedgerAnswer answer{ &trace,
            model::ledgerAt(
                trace, training->categories, event, active, report ? &*report : nullptr, &training->steps),
            {}, {}, {}, {}, {} };
        if (training->rules)
            answer.rules = model::ruleShares(
                trace, model::Clock(trace), training->categories, *training->rules, active);
        if (m_by == "module")
            answer.modules = model::moduleLedger(trace, training->categories, active);
        if (m_why)
            answer.why = model::whyCategories(trace, training->categories, active);
        if (event == peak)
            answer.spikes = model::findSpikes(trace, training->steps);
        if (event == peak)
            answer.unused = model::findUnusedMemory(trace);
        if (m_read.json)
            out.write(jsonLine(answer, answer));
        else
            printLedger(out, file, answer, static_cast<std::size_t>(m_limit.rows(false, out)));
        return kDone;
    }

private:
    ReadOptions m_read;
    LimitOption m_limit;
    TrainingOption m_training;
    InstantOption m_instant;
    std::string m_by = "category";
    bool m_why = false;
};

} // namespace

std::unique_ptr<Command> makeLedger()
{
    return std::make_unique<LedgerCommand>();
}

} // namespace strata::cli
