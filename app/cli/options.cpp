// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/options.h"

#include "model/analysis/allocator/fragmentation.h"
#include "model/analysis/training/roles/category.h"
#include "model/base/units.h"
#include "model/tables/position.h"
#include "model/trace/filter/filter_language.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace strata::cli {

namespace {

constexpr std::int64_t kTerminalRows = 40;

constexpr const char* kPositions = R"(
Positions:
  EVENT       index in the device's trace: the state after it; -1 is before the first
  peak        the first event of the highest requested bytes
  end         after the last event
  oom, oom:K  after the last, or the K-th, out-of-memory (exit 1 if there is none)
  t:SECONDS   from the first event
  us:EPOCH    microseconds since 1970
  "step 3"    the step of that number in strata steps, "backward of step 3" a range or phase within it:
              the peak there; after --from the first event, after --to the last. "start of", "end of" and
              "peak of" before it choose
)";

constexpr const char* kExitCodes = R"(
Exit codes:
  0 done   1 a check or limit failed   2 bad usage   3 unreadable input
)";

constexpr const char* kFilters = R"(
Filters, joined by blanks that mean "and":
  attention, train.py:57    part of a function or file name in the stack, in any case
  0x7f3a00000200            the block that holds this address
  > 1MiB, <= 512, = 20MiB   requested bytes; 1MiB..4MiB between two, 24.0MiB shown like this
  line:LABEL                the line as "strata at --by line" prints it
  stream:7, pool:large      also stream:none, pool:(0,1)/small, pool:none
  category:activation       what it is for, as "strata at --by category" prints it
  module:h.3.attn           of this module; module:h.3.* with all that is within it
  stack:LABEL,LABEL         this whole stack, innermost first; stack:none without one
A text with blanks or quotes in it stands in "quotes".
)";

} // namespace

void ReadOptions::declare(CLI::App& app, Devices devices)
{
    app.add_option("--device", device,
           devices == Devices::All ? "Only this device; else all of them"
                                   : "Device number; else the one with the highest reserved peak")
        ->type_name("D");
    app.add_flag("--json", json, "Prints JSON for programs");
    declareForce(app, force);
}

void declareForce(CLI::App& app, bool& force)
{
    app.add_flag("--force", force, "Reads even what unpacks to more than half of this machine's memory");
}

void RangeOptions::declare(CLI::App& app, const char* fromHelp, const char* toHelp)
{
    app.add_option("--from", from, fromHelp)->type_name("POSITION");
    app.add_option("--to", to, toHelp)->type_name("POSITION");
}

void LimitOption::declare(CLI::App& app, const char* rows)
{
    app.add_option("--limit", limit,
           fmt::format("Prints at most N {}, 0 all of them (default: {} on a terminal, else all)", rows,
               kTerminalRows))
        ->type_name("N");
}

model::Result<void> LimitOption::check() const
{
    if (limit && *limit < 0)
        return model::fail(model::Error::Kind::Usage, model::say("--limit cannot be negative"),
            model::say("give 0 for all"));
    return {};
}

std::int64_t LimitOption::rows(bool json, const Output& out) const
{
    const std::int64_t rows = limit.value_or(out.isTerminal() && !json ? kTerminalRows : 0);
    return rows == 0 ? std::numeric_limits<std::int64_t>::max() : rows;
}

void InstantOption::declare(CLI::App& app)
{
    app.add_option("POSITION", m_position,
           m_peak == Peak::Reserved
               ? "The instant, see below (default: the last out-of-memory, else the peak of reserved memory)"
               : "The instant, see below (default: the last out-of-memory, else the peak)")
        ->type_name("");
}

model::Result<model::EventIndex> InstantOption::of(const model::DeviceTrace& trace) const
{
    if (!m_position.empty())
        return model::parsePosition(m_position, trace);
    const auto& failed = trace.outOfMemories();
    if (!failed.empty())
        return static_cast<model::EventIndex>(failed.back());
    return m_peak == Peak::Reserved ? model::reservedPeakInstant(trace) : trace.totals().requestedPeakEvent;
}

void CapacityOption::declare(CLI::App& app)
{
    app.add_option("--capacity", m_text, "Bytes of the device, as 16GiB; else what the recording tells")
        ->type_name("BYTES");
}

model::Result<void> CapacityOption::check()
{
    if (!m_text)
        return {};
    bytes = model::parseBytes(*m_text);
    if (!bytes || *bytes <= 0)
        return model::fail(model::Error::Kind::Usage, model::say("--capacity '%1' is no size", *m_text),
            model::say("give a number of bytes above 0, or a size such as 16GiB"));
    return {};
}

void FilterOption::declare(CLI::App& app, const char* what)
{
    app.add_option(
           "--filter", texts, fmt::format("Only {} that this is true of, see below; may be repeated", what))
        ->allow_extra_args(false)
        ->type_name("FILTER");
}

model::Result<void> FilterOption::check()
{
    for (const std::string& text : texts) {
        const auto conditions = model::parseFilter(text);
        if (!conditions)
            return model::fail(model::Error::Kind::Usage,
                model::say("--filter '%1': %2", text, conditions.error().what), conditions.error().hint);
        if (conditions->category && !model::categoryFromWord(*conditions->category))
            return model::fail(model::Error::Kind::Usage,
                model::say("--filter '%1': there is no category '%2'", text, *conditions->category),
                model::say("give %1", model::categoryWords()));
        if (!conditions->empty())
            m_conditions.push_back(*conditions);
    }
    return {};
}

std::vector<model::BlockFilter> FilterOption::of(const model::Recording& recording) const
{
    std::vector<model::BlockFilter> filters;
    for (const model::FilterConditions& conditions : m_conditions)
        filters.push_back(model::filterOf(recording, conditions));
    return filters;
}

bool FilterOption::asksForLabels() const
{
    return std::ranges::any_of(
        m_conditions, [](const model::FilterConditions& one) { return one.category || one.module; });
}

std::vector<std::string> FilterOption::printed() const
{
    std::vector<std::string> all;
    for (const model::FilterConditions& conditions : m_conditions)
        all.push_back(model::printFilter(conditions));
    return all;
}

std::string footer(Footer kind)
{
    return fmt::format("{}{}{}", kind == Footer::Filters ? kFilters : "",
        kind == Footer::ExitCodes ? "" : kPositions, kExitCodes);
}

} // namespace strata::cli
