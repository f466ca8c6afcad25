// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/phase_guess.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <iterator>
#include <vector>

namespace strata::model {

namespace {

constexpr std::size_t kFewest = 8; // blocks of a step that tells anything
constexpr std::size_t kShortest = 3; // births while an activation lives

class Guess {
public:
    explicit Guess(const DeviceTrace& trace)
        : m_blocks(trace.blocks())
        , m_born(trace.blocks().bornCount())
    {
    }

    /// Sizes of blocks that outlive their step: of parameters, and so of gradients.
    void takeStaying(const std::vector<TrainingStep>& steps)
    {
        std::size_t row = 0;
        for (const TrainingStep& step : steps)
            for (; row < m_born && birth(row) <= step.last; ++row)
                if (end(row) > step.last + (step.last - step.first) / 2)
                    m_staying.insert(m_blocks.requestedBytes.born[row]);
        for (std::size_t older = 0; older < m_blocks.olderCount(); ++older)
            m_staying.insert(m_blocks.requestedBytes.older[older]);
    }

    /// `updates` of the step, in the order of their ends.
    void guess(TrainingStep& step, std::span<const Update> updates) const
    {
        TrainingStep guessed = step;
        guessed.phases.clear();
        bool found = false;
        for (const Update& update : updates) {
            const EventIndex from = guessed.phases.empty() ? step.first : guessed.phases.back().last + 1;
            if (!found && countBorn(from, update.first - 1) < kFewest
                && countBorn(update.first, update.last) >= kFewest)
                break; // a closure: forward and backward lie in it
            found = guessPart(guessed, from, update.first - 1, true) || found;
            add(guessed, found ? Phase::Optimizer : Phase::Unknown, update.last);
        }
        if (!found) {
            guessed.phases.clear();
            found = guessPart(guessed, step.first, step.last, false);
        }
        if (!found)
            return;
        add(guessed, Phase::Optimizer, step.last);
        step.phases = std::move(guessed.phases);
    }

private:
    [[nodiscard]] EventIndex birth(std::size_t row) const
    {
        return static_cast<EventIndex>(m_blocks.alloc[row].value);
    }
    [[nodiscard]] EventIndex end(std::size_t row) const
    {
        const BlockId block = BlockId::born(row);
        return std::min(m_blocks.pendingSince(block), m_blocks.death(block));
    }
    [[nodiscard]] std::size_t countBorn(EventIndex from, EventIndex to) const
    {
        return from <= to ? rowAt(to + 1) - rowAt(from) : 0;
    }

    /// Forwards and backwards from one event to another, at which the last backward ends, or may have ended
    /// before. False: there is none, and nothing is added.
    bool guessPart(TrainingStep& step, EventIndex from, EventIndex to, bool endsThere) const
    {
        const std::size_t first = rowAt(from), behind = rowAt(to + 1);
        if (from > to || behind - first < kFewest)
            return false;
        const std::size_t count = behind - first;
        const auto isLocal = [&](std::size_t row, std::size_t until) {
            return end(row) <= step.last && until - row >= kShortest;
        };
        std::vector<std::int32_t> change(count + 1);
        std::vector<std::size_t> ends(count);
        for (std::size_t row = first; row < behind; ++row) {
            const std::size_t until = ends[row - first] = std::min(rowAt(end(row)), behind);
            const bool late = (until - first) * 10 > count * 9;
            const bool isGradient = late && m_staying.contains(m_blocks.requestedBytes.born[row]);
            if (!isLocal(row, until) || isGradient)
                continue;
            ++change[row - first];
            --change[until - first];
        }
        std::vector<std::int32_t> there(count); // blocks of the step at each of its births
        for (std::size_t i = 0; i < count; ++i)
            there[i] = (i > 0 ? there[i - 1] : 0) + change[i];
        const std::vector<Hill> hills = hillsOf(there);
        for (const Hill& hill : hills) {
            std::size_t forward = hill.top; // the first of what is there at the top
            for (std::size_t i = hill.first; i < hill.top; ++i)
                if (ends[i] - first > hill.top && isLocal(first + i, ends[i])) {
                    forward = i;
                    break;
                }
            std::size_t last = hill.last;
            if (&hill == &hills.back())
                last = endsThere ? count - 1 : lastOfBackward(step, first, hill, ends);
            add(step, Phase::Unknown, birth(first + forward) - 1);
            add(step, Phase::Forward, birth(first + hill.top));
            add(step, Phase::Backward, last + 1 < count ? birth(first + last + 1) - 1 : to);
        }
        return !hills.empty();
    }

    /// The first block that is born at or behind an event.
    [[nodiscard]] std::size_t rowAt(EventIndex event) const
    {
        std::size_t low = 0, high = m_born;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (birth(middle) < event)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /// Births of one forward and its backward, and where most of its blocks are there; of the step.
    struct Hill {
        std::size_t first = 0, top = 0, last = 0;
    };

    /// Where gradients are accumulated there are several: between them hardly any block is left.
    static std::vector<Hill> hillsOf(const std::vector<std::int32_t>& there)
    {
        const std::int32_t most = *std::ranges::max_element(there);
        std::vector<Hill> hills;
        if (most <= 0)
            return hills;
        Hill hill;
        bool high = false;
        for (std::size_t i = 0; i < there.size(); ++i) {
            if (there[i] > there[hill.top])
                hill.top = i;
            high = high || there[i] * 2 > most;
            hill.last = i;
            if (high && there[i] * 8 <= most) {
                hills.push_back(hill);
                hill = { i + 1, i + 1, i + 1 };
                high = false;
                if (i + 1 == there.size())
                    break;
            }
        }
        if (high)
            hills.push_back(hill);
        return hills;
    }

    /// Gradients are asked for to the end of the backward, and go as the step ends; states stay.
    [[nodiscard]] std::size_t lastOfBackward(const TrainingStep& step, std::size_t first, const Hill& hill,
        const std::vector<std::size_t>& ends) const
    {
        const std::size_t count = ends.size();
        std::size_t over = hill.top;
        for (std::size_t i = hill.first; i <= hill.top; ++i) {
            const std::size_t end = ends[i] - first;
            const bool late = end * 10 > count * 9; // a batch, a loss that a variable holds
            if (end > hill.top && end - i >= kShortest && !late)
                over = std::max(over, end - 1);
        }
        const EventIndex soon = step.last + (step.last - step.first) / 2;
        for (std::size_t i = hill.top + 1; i < count && i <= over + std::max(kFewest, count / 20); ++i)
            if ((ends[i] - first) * 10 > count * 9 && end(first + i) <= soon
                && m_staying.contains(m_blocks.requestedBytes.born[first + i]))
                over = std::max(over, i);
        return std::min(over, count - 1);
    }

    /// The phase from where the one before it ended.
    static void add(TrainingStep& step, Phase phase, EventIndex last)
    {
        const EventIndex first = step.phases.empty() ? step.first : step.phases.back().last + 1;
        if (first > last)
            return;
        if (!step.phases.empty() && step.phases.back().phase == phase)
            step.phases.back().last = last;
        else
            step.phases.push_back({ phase, first, last });
    }

    const BlockColumns& m_blocks;
    std::size_t m_born;
    boost::unordered_flat_set<std::int64_t> m_staying;
};

} // namespace

void guessPhases(const DeviceTrace& trace, std::span<const Update> updates, std::vector<TrainingStep>& steps)
{
    Guess guess(trace);
    guess.takeStaying(steps);
    std::vector<Update> known;
    std::ranges::copy_if(updates, std::back_inserter(known), &Update::beginKnown);
    const auto lastOf = [](const Update& update) { return update.last; };
    for (TrainingStep& step : steps)
        if (step.kind == StepKind::Train)
            guess.guess(step,
                std::span(std::ranges::lower_bound(known, step.first, {}, lastOf),
                    std::ranges::upper_bound(known, step.last, {}, lastOf)));
}

} // namespace strata::model
