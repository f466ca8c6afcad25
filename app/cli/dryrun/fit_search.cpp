// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/fit_search.h"

#include <algorithm>
#include <charconv>

namespace strata::cli {

namespace {

using model::Error;

bool readInteger(std::string_view text, std::int64_t& out)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
}

class Search {
public:
    Search(std::span<const model::FitVariable> variables, const TryFit& tryFit,
        const std::function<void(const Error&)>& failedOnce)
        : m_variables(variables)
        , m_tryFit(tryFit)
        , m_failedOnce(failedOnce)
    {
    }

    model::Result<FitOutcome> run()
    {
        std::vector<std::int64_t> values;
        if (const auto done = choose(values, last().highest); !done)
            return model::Failure(done.error());
        return std::move(m_outcome);
    }

private:
    const model::FitVariable& last() const { return m_variables.back(); }

    /// Goes through the variables before the last; gives the largest value of the last that any choice had.
    model::Result<std::int64_t> choose(std::vector<std::int64_t>& values, std::int64_t limit)
    {
        if (values.size() + 1 == m_variables.size())
            return findLargest(values, limit);
        const model::FitVariable& variable = m_variables[values.size()];
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
        std::int64_t stride = m_outcome.best.empty() ? 1 : limit - fits;
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
            m_outcome.best.push_back(best);
        return fits;
    }

    model::Result<FitTrial> tryValues(const std::vector<std::int64_t>& values)
    {
        auto trial = m_tryFit(values);
        if (!trial && trial.error().kind == Error::Kind::NotFound && !m_outcome.trials.empty()) {
            m_failedOnce(trial.error());
            trial = m_tryFit(values);
        }
        if (trial)
            m_outcome.trials.push_back(*trial);
        return trial;
    }

    std::span<const model::FitVariable> m_variables;
    const TryFit& m_tryFit;
    const std::function<void(const Error&)>& m_failedOnce;
    FitOutcome m_outcome;
};

} // namespace

model::Result<FitOutcome> searchFit(std::span<const model::FitVariable> variables, const TryFit& tryFit,
    const std::function<void(const Error&)>& failedOnce)
{
    return Search(variables, tryFit, failedOnce).run();
}

std::string placeholder(const model::FitVariable& variable)
{
    return "{" + variable.name + "}";
}

model::Result<model::FitVariable> parseFitVariable(
    std::string_view text, std::span<const std::string> command)
{
    const auto bad = [&](model::Sentence why) {
        return model::fail(Error::Kind::Usage, model::say("--fit %1: %2", text, std::move(why)),
            model::say("e.g. --fit 'BATCH=1..512'"));
    };
    const auto equals = text.find('=');
    const auto dots = text.find("..", equals == text.npos ? text.size() : equals);
    if (equals == text.npos || equals == 0 || dots == text.npos)
        return bad(model::say("not a name with a range"));
    model::FitVariable variable;
    variable.name = text.substr(0, equals);
    if (!readInteger(text.substr(equals + 1, dots - equals - 1), variable.lowest)
        || !readInteger(text.substr(dots + 2), variable.highest))
        return bad(model::say("its ends are no whole numbers"));
    constexpr std::int64_t kHighest = std::int64_t{ 1 } << 40;
    if (variable.lowest < 0 || variable.highest > kHighest || variable.lowest > variable.highest)
        return bad(model::say("its ends are not in order between 0 and 2^40"));
    const bool used = std::any_of(command.begin(), command.end(),
        [&](const std::string& word) { return word.find(placeholder(variable)) != word.npos; });
    if (!used)
        return bad(model::say("%1 is nowhere in the command", placeholder(variable)));
    return variable;
}

} // namespace strata::cli
