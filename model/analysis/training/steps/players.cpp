// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/players.h"

#include "model/analysis/training/steps/step_ends.h"
#include "model/analysis/training/steps/updates.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace strata::model {

namespace {

/// Sets that grow together.
class Sets {
public:
    explicit Sets(std::size_t count)
        : m_parents(count)
    {
        std::iota(m_parents.begin(), m_parents.end(), 0u);
    }
    [[nodiscard]] std::size_t of(std::size_t item)
    {
        while (m_parents[item] != item)
            item = m_parents[item] = m_parents[m_parents[item]];
        return item;
    }
    void join(std::size_t a, std::size_t b) { m_parents[of(a)] = of(b); }

private:
    std::vector<std::size_t> m_parents;
};

/// Of each turn, the number of its group, counted in the order of first turns.
std::vector<std::size_t> groupsOf(const std::vector<StepTurn>& turns)
{
    std::map<std::uint32_t, std::size_t> numbers;
    std::map<std::uint32_t, std::size_t> count;
    for (const StepTurn& turn : turns)
        for (const std::uint32_t optimizer : turn.optimizers) {
            numbers.emplace(optimizer, numbers.size());
            ++count[optimizer];
        }
    Sets sets(numbers.size());
    // So many that step once are one that is made anew each time.
    constexpr std::ptrdiff_t kMostOnce = 3;
    const auto isOnce = [](const auto& each) { return each.second == 1; };
    if (std::ranges::count_if(count, isOnce) > kMostOnce) {
        const std::uint32_t first = std::ranges::find_if(count, isOnce)->first;
        for (const auto& [optimizer, turnsOfIt] : count)
            if (turnsOfIt == 1)
                sets.join(numbers[optimizer], numbers[first]);
    }
    for (const StepTurn& turn : turns)
        for (const std::uint32_t optimizer : turn.optimizers)
            sets.join(numbers[optimizer], numbers[turn.optimizers.front()]);
    std::map<std::size_t, std::size_t> order;
    std::vector<std::size_t> groups;
    for (const StepTurn& turn : turns) {
        const std::size_t set = sets.of(numbers[turn.optimizers.front()]);
        groups.push_back(order.emplace(set, order.size()).first->second);
    }
    return groups;
}

/// More players than this are no game: each of their turns ends a step.
constexpr std::size_t kMostPlayers = 64;

/// Bits of the groups that have a turn somewhere behind each one's.
std::vector<std::uint64_t> followersOf(const std::vector<std::size_t>& turns, std::size_t groups)
{
    std::vector<std::uint64_t> next(groups);
    for (std::size_t i = 1; i < turns.size(); ++i)
        if (turns[i - 1] != turns[i])
            next[turns[i - 1]] |= std::uint64_t{ 1 } << turns[i];
    for (bool more = true; more;) {
        more = false;
        for (std::uint64_t& each : next) {
            std::uint64_t reached = each;
            for (std::size_t group = 0; group < groups; ++group)
                reached |= (each >> group & 1) != 0 ? next[group] : 0;
            more = more || reached != each;
            each = reached;
        }
    }
    return next;
}

/// Which of the groups end steps.
std::vector<bool> closers(const std::vector<std::size_t>& turns)
{
    const std::size_t groups = *std::ranges::max_element(turns) + 1;
    std::vector<bool> closes(groups, true);
    if (groups > kMostPlayers)
        return closes;
    std::vector<std::size_t> count(groups);
    for (const std::size_t group : turns)
        ++count[group];
    const std::vector<std::uint64_t> followers = followersOf(turns, groups);
    const auto follows = [&](std::size_t a, std::size_t b) { return (followers[a] >> b & 1) != 0; };
    const bool once = turns.size() == groups; // it ends with the first step
    for (std::size_t a = 0; a < groups; ++a)
        for (std::size_t b = a + 1; b < groups; ++b)
            if (once || (follows(a, b) && follows(b, a)))
                closes[count[b] <= count[a] ? a : b] = false;
    return closes;
}

/// Two turns are of one player if the sizes that they leave have this share in common, of two if less than
/// the other one; a turn in so many may differ.
constexpr double kAlikeTurns = 0.8, kUnlike = 0.6, kRegularTurns = 0.9;
constexpr std::size_t kFewestTurns = 4;

/// Sizes of the blocks born in a turn that are there when its optimizer begins, and not behind `most` any
/// more: gradients, mostly.
std::map<std::int64_t, std::int64_t> sizesLeft(
    const DeviceTrace& trace, EventIndex first, const StepTurn& turn, EventIndex most)
{
    const BlockColumns& blocks = trace.blocks();
    const EventIndex until = turn.first >= 0 ? turn.first : turn.last + 1;
    std::map<std::int64_t, std::int64_t> sizes;
    for (auto row = static_cast<std::size_t>(allocsBefore(trace, first));
         row < blocks.bornCount() && static_cast<EventIndex>(blocks.alloc[row].value) < until; ++row)
        if (const EventIndex death = blocks.death(BlockId::born(row)); death >= until && death <= most)
            ++sizes[blocks.requestedBytes.born[row]];
    return sizes;
}

double alike(const std::map<std::int64_t, std::int64_t>& a, const std::map<std::int64_t, std::int64_t>& b)
{
    std::int64_t common = 0, all = 0;
    for (const auto& [size, count] : a) {
        const auto other = b.find(size);
        common += other == b.end() ? 0 : std::min(count, other->second);
        all += count;
    }
    for (const auto& [size, count] : b)
        all += count;
    return all == 0 ? 1 : 2 * static_cast<double>(common) / static_cast<double>(all);
}

/// Two optimizers of one name that take turns get numbers of their own.
void tellApart(const DeviceTrace& trace, std::vector<StepTurn>& turns)
{
    const auto named = [&](const StepTurn& turn) {
        return turn.optimizers.size() == 1 && turn.optimizers.front() == turns.front().optimizers.front();
    };
    if (turns.size() < kFewestTurns || turns.front().optimizers.front() < Update::kNamed
        || !std::ranges::all_of(turns, named))
        return;
    std::vector<std::map<std::int64_t, std::int64_t>> left;
    EventIndex first = 0;
    for (std::size_t i = 0; i < turns.size(); ++i) {
        left.push_back(sizesLeft(
            trace, first, turns[i], i + 2 < turns.size() ? turns[i + 2].last : BlockColumns::kNever));
        first = turns[i].last + 1;
    }
    left.front().clear(); // what sets the program up is in it
    double regular = 0;
    for (std::size_t i = 3; i < turns.size(); ++i)
        regular
            += alike(left[i], left[i - 2]) >= kAlikeTurns && alike(left[i], left[i - 1]) < kUnlike ? 1 : 0;
    if (regular < kRegularTurns * static_cast<double>(turns.size() - 3))
        return;
    for (std::size_t i = 0; i < turns.size(); ++i)
        turns[i].optimizers.front() += static_cast<std::uint32_t>(i % 2);
}

} // namespace

std::vector<StepTurn> lastTurns(const DeviceTrace& trace, std::vector<StepTurn> turns)
{
    if (turns.empty())
        return turns;
    tellApart(trace, turns);
    const std::vector<std::size_t> groups = groupsOf(turns);
    const std::vector<bool> closes = closers(groups);
    std::vector<StepTurn> kept;
    for (std::size_t i = 0; i < turns.size(); ++i)
        if (closes[groups[i]])
            kept.push_back(std::move(turns[i]));
    return kept;
}

} // namespace strata::model
