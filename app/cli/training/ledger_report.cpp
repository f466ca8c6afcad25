// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/training/ledger_report.h"

#include "app/cli/open.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/analysis/allocator/fragmentation.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/trace/frames.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

using model::Category;
using model::LedgerAnswer;
using model::LedgerRow;
using model::ModuleRow;
using model::Spike;

namespace {

std::string ratio(const std::optional<double>& bytes)
{
    return bytes ? model::formatFigure(*bytes) : std::string("-");
}

void printCategories(Output& out, const model::Ledger& ledger)
{
    const bool counted = ledger.parameters.has_value();
    std::vector<Table::Column> columns{ { "bytes" }, { "share" }, { "blocks" } };
    if (counted)
        columns.insert(columns.end(), { { "B/parameter" }, { "expected" } });
    columns.push_back({ "category", Table::Align::Left });
    columns.push_back({ "", Table::Align::Left });
    Table table(columns);
    for (const LedgerRow& row : ledger.rows) {
        std::vector<std::string> cells{ model::formatBytes(row.bytes),
            model::formatShare(row.bytes, ledger.requestedBytes), model::formatCount(row.blocks) };
        if (counted) {
            cells.push_back(ratio(row.bytesPerParameter));
            cells.push_back(ratio(row.expectedBytesPerParameter));
        }
        cells.emplace_back(model::categoryTitle(row.category).text());
        cells.push_back(model::sourceOf(row).text());
        table.add(std::move(cells));
    }
    table.print(out);
}

void printModules(Output& out, const std::vector<ModuleRow>& modules, std::size_t limit)
{
    Table table({ { "bytes" }, { "parameters" }, { "gradients" }, { "state" }, { "activations" }, { "other" },
        { "module", Table::Align::Left } });
    const std::size_t rows = limit == 0 ? modules.size() : std::min(limit, modules.size());
    const auto cell
        = [](std::int64_t bytes) { return bytes == 0 ? std::string("-") : model::formatBytes(bytes); };
    for (std::size_t i = 0; i < rows; ++i) {
        const ModuleRow& row = modules[i];
        const std::int64_t parameters = row.total.of(Category::Parameter),
                           gradients = row.total.of(Category::Gradient),
                           state = row.total.of(Category::OptimizerState),
                           activations = row.total.of(Category::Activation);
        table.add({ cell(row.total.bytes), cell(parameters), cell(gradients), cell(state), cell(activations),
            cell(row.total.bytes - parameters - gradients - state - activations),
            row.path.empty()
                ? std::string("(no module)")
                : std::string(2 * static_cast<std::size_t>(row.depth), ' ') + printable(row.path) });
    }
    table.print(out);
    if (rows < modules.size())
        out.line(out.faint(fmt::format("  ... {} more modules: --limit 0 prints all",
            model::formatCount(static_cast<std::int64_t>(modules.size() - rows)))));
}

void printBeside(Output& out, const model::Ledger& ledger)
{
    const auto line = [&](std::optional<std::int64_t> bytes, const std::string& what) {
        if (bytes && *bytes > 0)
            out.line(fmt::format("  {:>10}  {}", model::formatBytes(*bytes), what));
    };
    out.line("");
    line(ledger.pendingFreeBytes, "of it is freed, but another stream may still use it");
    line(ledger.roundingBytes, "more for rounding, and what was not worth a split");
    line(ledger.fragmentationBytes, "free in segments that live blocks keep");
    line(ledger.cachedFreeBytes,
        model::cachedSentence(ledger.cachedFreeBytes.value_or(0), ledger.cachedPrivateBytes).text());
    if (!ledger.fragmentationBytes)
        out.line(
            "  A profiler tells of no segments, so not of what is free in them: a memory snapshot does.");
    line(ledger.outsideBytes, "outside of PyTorch: CUDA itself and its libraries");
}

void printSpikes(Output& out, const LedgerAnswer& answer, std::size_t limit)
{
    const std::int64_t peak = answer.trace->totals().requestedBytesPeak;
    Table table({ { "bytes" }, { "peak without" }, { "saves" }, { "line", Table::Align::Left } });
    std::size_t rows = 0;
    for (const Spike& spike : *answer.spikes)
        if (spike.peakWithoutBytes < peak && (limit == 0 || rows < limit)) {
            ++rows;
            table.add({ model::formatBytes(spike.bytes), model::formatBytes(spike.peakWithoutBytes),
                model::formatBytes(peak - spike.peakWithoutBytes),
                printable(model::lineOf(answer.trace->recording(), spike)) });
        }
    if (rows == 0)
        return;
    out.line("");
    out.line("Short-lived memory that makes the peak");
    table.print(out);
}

/// Which of the user's own rules decide what, so that one that never holds is seen.
void printRules(Output& out, const std::vector<model::RuleShare>& rules)
{
    out.line("");
    out.line("Categories of your own");
    Table table({ { "bytes" }, { "blocks" }, { "rule" }, { "category", Table::Align::Left } });
    for (std::size_t i = 0; i < rules.size(); ++i)
        table.add({ model::formatBytes(rules[i].bytes), model::formatCount(rules[i].blocks),
            std::to_string(i + 1), std::string(model::categoryTitle(rules[i].category).text()) });
    table.print(out);
}

/// Each rule, and below it the frames that decided, or the lines whose blocks it decided.
void printWhy(Output& out, const std::vector<model::CategoryWhy>& all)
{
    out.line("");
    out.line("Why");
    Table table({ { "bytes" }, { "blocks" }, { "category", Table::Align::Left },
        { "certainty", Table::Align::Left }, { "reason", Table::Align::Left } });
    for (const model::CategoryWhy& why : all) {
        table.add({ model::formatBytes(why.bytes), model::formatCount(why.blocks),
            std::string(model::categoryTitle(why.category.category).text()),
            std::string(model::certaintyTitle(why.category.certainty()).text()),
            model::whyOf(why.category.rule).text() });
        for (const model::CategoryWhy::Stack& stack : why.stacks) {
            const model::Recording& recording = *stack.recording;
            const bool byFrame = stack.decides.valid();
            const model::FrameId frame = byFrame ? stack.decides : model::userFrame(recording, stack.stack);
            std::string where = frame.valid() ? printable(model::frameShortLabel(recording, frame))
                                              : std::string("no stack trace");
            if (const std::string function
                = frame.valid() ? model::frameFunction(recording, frame) : std::string();
                !function.empty())
                where += " " + printable(function);
            table.add({ model::formatBytes(stack.bytes), model::formatCount(stack.blocks), "", "",
                (byFrame ? "  decided by " : "  allocated at ") + where });
        }
    }
    table.print(out);
}

} // namespace

void printUnused(Output& out, const std::vector<model::UnusedLine>& unused, std::size_t limit)
{
    if (unused.empty())
        return;
    out.line("");
    out.line(
        out.strong("Not used by operators of the recorded step (other steps or custom kernels may use it)"));
    Table table({ { "bytes" }, { "blocks" }, { "line", Table::Align::Left }, { "", Table::Align::Left } });
    const std::size_t rows = limit == 0 ? unused.size() : std::min(limit, unused.size());
    for (std::size_t i = 0; i < rows; ++i)
        table.add({ model::formatBytes(unused[i].unusedBytes()), model::formatCount(unused[i].blocks),
            printable(unused[i].line), printable(model::sayUnused(unused[i]).text()) });
    table.print(out);
    if (rows < unused.size())
        out.line(out.faint(fmt::format("  ... {} more: --json has all",
            model::formatCount(static_cast<std::int64_t>(unused.size() - rows)))));
}

void printLedger(Output& out, const std::string& file, const LedgerAnswer& answer, std::size_t limit)
{
    const model::Ledger& ledger = answer.ledger;
    out.line(fmt::format("{}: {} {}: {} requested{}{}", out.strong(printable(file)),
        deviceName(answer.trace->device()), stateName(*answer.trace, ledger.event),
        model::formatBytes(ledger.requestedBytes),
        ledger.reservedBytes ? fmt::format(" of {} reserved", model::formatBytes(*ledger.reservedBytes)) : "",
        ledger.parameters ? fmt::format(", {} parameters", model::formatCount(*ledger.parameters)) : ""));
    for (const model::LedgerSurprise& surprise : ledger.surprises)
        printParagraph(out, printable(surprise.said.text()) + ".");
    out.line("");
    if (answer.modules)
        printModules(out, *answer.modules, limit);
    else
        printCategories(out, ledger);
    printBeside(out, ledger);
    if (answer.spikes && !answer.modules)
        printSpikes(out, answer, limit);
    if (answer.unused && !answer.modules)
        printUnused(out, *answer.unused, limit);
    if (answer.rules && !answer.modules)
        printRules(out, *answer.rules);
    if (answer.why)
        printWhy(out, *answer.why);
}

} // namespace strata::cli
