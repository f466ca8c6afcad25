// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/fit.h"

#include "model/base/units.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <map>

namespace strata::cli {

namespace {

using model::Error;

std::string braced(const std::string& name)
{
    return "{" + name + "}";
}

bool readInteger(std::string_view text, std::int64_t& out)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
}

void replaceAll(std::string& text, const std::string& from, const std::string& to)
{
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string lastLines(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string all{ std::istreambuf_iterator<char>(file), {} };
    constexpr std::size_t kMost = 1500;
    return all.size() > kMost ? all.substr(all.size() - kMost) : all;
}

class Search {
public:
    explicit Search(const DryRunOptions& options)
        : m_options(options)
    {
    }

    model::Result<FitResult> run()
    {
        for (const std::string& text : m_options.fit)
            m_result.variables.push_back(*parseFitVariable(text, m_options.command));
        std::vector<std::int64_t> values;
        if (const auto done = choose(values, last().highest); !done)
            return model::Failure(done.error());
        return std::move(m_result);
    }

private:
    const FitVariable& last() const { return m_result.variables.back(); }

    /// Goes through the variables before the last; gives the largest value of the last that any choice had.
    model::Result<std::int64_t> choose(std::vector<std::int64_t>& values, std::int64_t limit)
    {
        if (values.size() + 1 == m_result.variables.size())
            return findLargest(values, limit);
        const FitVariable variable = m_result.variables[values.size()];
        std::int64_t largest = last().lowest - 1;
        for (std::int64_t value = variable.lowest;;) {
            values.push_back(value);
            const auto found = choose(values, limit);
            values.pop_back();
            if (!found)
                return found;
            largest = std::max(largest, *found);
            limit = *found; // more of this variable leaves no more room for the last
            if (*found < last().lowest || value == variable.highest)
                return largest;
            value = std::min(variable.highest, std::max(value + 1, 2 * value));
        }
    }

    /// The largest value of the last variable that fits, lowest - 1 when none does.
    model::Result<std::int64_t> findLargest(const std::vector<std::int64_t>& before, std::int64_t limit)
    {
        std::int64_t fits = last().lowest - 1;
        std::int64_t tooMuch = limit + 1;
        // Up from the lowest at first; then what fitted with less of the others is most likely the answer.
        std::int64_t stride = m_result.best.empty() ? 1 : limit - fits;
        FitTrial best;
        while (fits + 1 < tooMuch) {
            const bool growing = tooMuch == limit + 1;
            const std::int64_t value = growing ? std::min(limit, fits + stride) : fits + (tooMuch - fits) / 2;
            stride *= 2;
            std::vector<std::int64_t> values = before;
            values.push_back(value);
            const auto trial = tryValues(values);
            if (!trial)
                return model::Failure(trial.error());
            if (trial->fits) {
                fits = value;
                best = *trial;
            } else
                tooMuch = value;
        }
        if (fits >= last().lowest)
            m_result.best.push_back(best);
        return fits;
    }

    model::Result<FitTrial> tryValues(const std::vector<std::int64_t>& values)
    {
        DryRunOptions options = m_options;
        std::string label;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::string& name = m_result.variables[i].name;
            label += fmt::format("{}{}={}", i == 0 ? "" : " ", name, values[i]);
            for (std::string& word : options.command)
                replaceAll(word, braced(name), std::to_string(values[i]));
        }
        options.record = false;
        auto trial = runTrial(options, values, label);
        // Where other values went through, one failure may be the machine's: it does not undo the search.
        if (!trial && trial.error().kind == Error::Kind::NotFound && !m_result.trials.empty()) {
            std::fprintf(stderr, "strata: %s: once more\n", trial.error().what.c_str());
            trial = runTrial(options, values, label);
        }
        if (trial)
            m_result.trials.push_back(*trial);
        return trial;
    }

    /// Error::Kind::NotFound when the command failed for another reason than memory.
    model::Result<FitTrial> runTrial(
        DryRunOptions options, const std::vector<std::int64_t>& values, const std::string& label)
    {
        const ScratchFolder scratch;
        options.log = (scratch.path() / "log").string();
        const auto run = runDry(options, scratch);
        if (!run)
            return model::Failure(run.error());
        m_result.device = run->device;
        m_result.capacityBytes = run->capacityBytes;
        if (run->interrupted())
            return model::fail(Error::Kind::Cancelled,
                fmt::format("{}: ended with status {}", label, run->exitStatus), "interrupted");
        if (run->fits() && (run->exitStatus != 0 || run->processes.empty()))
            return model::fail(Error::Kind::NotFound,
                fmt::format("{}: the command ended with status {}{}", label, run->exitStatus,
                    run->processes.empty() ? " and never used the device" : ", and not for want of memory"),
                "its last words:\n" + lastLines(options.log));
        const FitTrial trial{ values, run->fits() && run->exitStatus == 0, run->requestedPeak(),
            run->reservedPeak(), run->firstRefused() };
        std::fprintf(stderr, "strata: %s: %s reserved, %s\n", label.c_str(),
            model::formatBytes(trial.reservedPeak).c_str(), run->fits() ? "fits" : "does not fit");
        return trial;
    }

    const DryRunOptions& m_options;
    FitResult m_result;
};

} // namespace

model::Result<FitVariable> parseFitVariable(std::string_view text, std::span<const std::string> command)
{
    const auto bad = [&](std::string_view why) {
        return model::fail(
            Error::Kind::Usage, fmt::format("--fit {}: {}", text, why), "e.g. --fit 'BATCH=1..512'");
    };
    const auto equals = text.find('=');
    const auto dots = text.find("..", equals == text.npos ? text.size() : equals);
    if (equals == text.npos || equals == 0 || dots == text.npos)
        return bad("not a name with a range");
    FitVariable variable;
    variable.name = text.substr(0, equals);
    if (!readInteger(text.substr(equals + 1, dots - equals - 1), variable.lowest)
        || !readInteger(text.substr(dots + 2), variable.highest))
        return bad("its ends are no whole numbers");
    constexpr std::int64_t kHighest = std::int64_t{ 1 } << 40;
    if (variable.lowest < 0 || variable.highest > kHighest || variable.lowest > variable.highest)
        return bad("its ends are not in order between 0 and 2^40");
    const bool used = std::any_of(command.begin(), command.end(),
        [&](const std::string& word) { return word.find(braced(variable.name)) != word.npos; });
    if (!used)
        return bad(braced(variable.name) + " is nowhere in the command");
    return variable;
}

model::Result<FitResult> runFit(const DryRunOptions& options)
{
    return Search(options).run();
}

} // namespace strata::cli
