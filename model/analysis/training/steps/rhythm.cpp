// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/lives.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

namespace strata::model {

namespace {

/// Local is what lives for less than this share of the trace, and does not live to its end for more than
/// that one.
constexpr double kLongestShare = 0.6, kLongestToEnd = 0.15;
constexpr std::size_t kFewestPeriodAllocs = 20;

/// What surrounds a valley: how long so many blocks before and behind it live. Two valleys are alike if this
/// share agrees; a valley is compared with so many kinds at most.
constexpr std::size_t kAround = 8, kMostKinds = 64;
constexpr double kAlikeValleys = 0.6;

/// A kind is usual with this share of the valleys; low within this share of the highest local bytes.
constexpr double kUsual = 0.2, kLow = 0.02;

/// Of each so many valleys one ends a step where that holds for this share.
constexpr double kRegularValleys = 0.8;

/// A step rises by this share of what most do, or has this share of their allocs.
constexpr double kStepRise = 0.3, kStepLength = 0.7;

/// Lengths in classes, a quarter longer each.
std::int8_t lengthClass(std::int64_t allocs)
{
    return static_cast<std::int8_t>(
        allocs < 0 ? 127 : std::min(120., 4.5 * std::log2(1. + static_cast<double>(allocs))));
}

struct ValleyKind {
    std::array<std::int8_t, 2 * kAround> around{};
    std::vector<std::size_t> valleys;
    std::int64_t bytes = 0; ///< in the middle of theirs
};

class Rhythm {
public:
    Rhythm(const DeviceTrace& trace, const Progress& progress)
        : m_trace(trace)
        , m_count(trace.blocks().bornCount())
    {
        readLives();
        m_valleys = valleysOf(m_bytes, true);
        m_top = *std::ranges::max_element(m_bytes);
        findKinds(progress);
    }

    [[nodiscard]] StepEnds ends() const
    {
        StepEnds ends;
        for (const std::size_t valley : apart(withoutFlat(lowerOnes(usualOnes())))) {
            const std::size_t alloc = m_valleys[valley].alloc;
            const EventIndex last = alloc < m_count
                ? static_cast<EventIndex>(m_trace.blocks().alloc[alloc].value) - 1
                : m_trace.eventCount() - 1;
            if (last >= 0)
                ends.push_back(last);
        }
        return ends;
    }

private:
    void readLives();
    void findKinds(const Progress& progress);
    [[nodiscard]] std::array<std::int8_t, 2 * kAround> aroundOf(std::size_t alloc) const;
    [[nodiscard]] bool isLow(std::int64_t bytes, std::int64_t than) const
    {
        return static_cast<double>(bytes) <= static_cast<double>(than) + kLow * static_cast<double>(m_top);
    }
    [[nodiscard]] std::size_t usualGap(const std::vector<std::size_t>& chosen) const;
    [[nodiscard]] bool recurs(
        const std::vector<std::size_t>& all, const std::vector<std::size_t>& some) const;
    [[nodiscard]] std::vector<std::size_t> usualOnes() const;
    [[nodiscard]] std::vector<std::size_t> lowerOnes(std::vector<std::size_t> chosen) const;
    [[nodiscard]] std::vector<std::size_t> withoutFlat(std::vector<std::size_t> chosen) const;
    [[nodiscard]] std::vector<std::size_t> apart(const std::vector<std::size_t>& chosen) const;
    void addLone(std::vector<std::size_t>& chosen) const;

    const DeviceTrace& m_trace;
    std::size_t m_count;
    std::vector<std::int8_t> m_lengths; // by alloc
    std::vector<std::int64_t> m_bytes; // local ones before each alloc, and behind the last
    std::int64_t m_top = 0;
    std::vector<Valley> m_valleys;
    std::vector<ValleyKind> m_kinds;
};

void Rhythm::readLives()
{
    const BlockColumns& blocks = m_trace.blocks();
    const EventColumns& events = m_trace.events();
    m_lengths.assign(m_count, lengthClass(-1));
    m_bytes.assign(m_count + 1, 0);
    std::size_t before = 0; // allocs
    const double count = static_cast<double>(m_count);
    for (std::size_t event = 0; event < static_cast<std::size_t>(m_trace.eventCount()); ++event) {
        const Action action = events.action[event];
        before += action == Action::Alloc ? 1 : 0;
        if (action != Action::FreeCompleted || !events.block[event].valid() || events.block[event].isOlder())
            continue;
        const std::size_t alloc = events.block[event].row();
        const std::size_t length = before - alloc - 1;
        m_lengths[alloc] = lengthClass(static_cast<std::int64_t>(length));
        if (static_cast<double>(length) > kLongestShare * count
            || (before == m_count && static_cast<double>(length) > kLongestToEnd * count))
            continue;
        std::int64_t& rises = m_bytes[std::min(alloc + 1, m_count)];
        std::int64_t& falls = m_bytes[std::min(before, m_count)];
        rises = wrapAdd(rises, blocks.requestedBytes.born[alloc]);
        falls = wrapSub(falls, blocks.requestedBytes.born[alloc]);
    }
    std::int64_t sum = 0;
    for (std::int64_t& each : m_bytes)
        each = sum = wrapAdd(sum, each);
}

std::array<std::int8_t, 2 * kAround> Rhythm::aroundOf(std::size_t alloc) const
{
    std::array<std::int8_t, 2 * kAround> around{};
    for (std::size_t i = 0; i < kAround; ++i) {
        around[i] = alloc > i ? m_lengths[alloc - 1 - i] : std::int8_t{ -1 };
        around[kAround + i] = alloc + i < m_count ? m_lengths[alloc + i] : std::int8_t{ -1 };
    }
    return around;
}

void Rhythm::findKinds(const Progress& progress)
{
    constexpr std::size_t kLooks = 1 << 16;
    for (std::size_t valley = 0; valley < m_valleys.size(); ++valley) {
        if (valley % kLooks == 0 && progress.cancelled())
            break;
        const auto around = aroundOf(m_valleys[valley].alloc);
        ValleyKind* nearest = nullptr;
        double best = kAlikeValleys;
        for (ValleyKind& kind : m_kinds) {
            int same = 0, both = 0;
            for (std::size_t i = 0; i < around.size(); ++i) {
                both += around[i] >= 0 && kind.around[i] >= 0 ? 1 : 0;
                same += around[i] >= 0 && around[i] == kind.around[i] ? 1 : 0;
            }
            const double share = both == 0 ? 0 : static_cast<double>(same) / both;
            if (share >= best) {
                best = share;
                nearest = &kind;
            }
        }
        if (!nearest && m_kinds.size() < kMostKinds)
            nearest = &m_kinds.emplace_back(ValleyKind{ around, {}, 0 });
        if (nearest)
            nearest->valleys.push_back(valley);
    }
    for (ValleyKind& kind : m_kinds) {
        std::vector<std::int64_t> bytes;
        for (const std::size_t valley : kind.valleys)
            bytes.push_back(m_valleys[valley].bytes);
        std::ranges::sort(bytes);
        kind.bytes = bytes[bytes.size() / 2];
    }
}

std::size_t Rhythm::usualGap(const std::vector<std::size_t>& chosen) const
{
    std::vector<std::size_t> gaps;
    for (std::size_t i = 1; i < chosen.size(); ++i)
        gaps.push_back(m_valleys[chosen[i]].alloc - m_valleys[chosen[i - 1]].alloc);
    if (gaps.empty())
        return 0;
    std::ranges::sort(gaps);
    return gaps[(gaps.size() - 1) / 2];
}

/// Whether between two of `some` there are, mostly, equally many of the rest, and at least one.
bool Rhythm::recurs(const std::vector<std::size_t>& all, const std::vector<std::size_t>& some) const
{
    std::map<std::size_t, std::size_t> between;
    std::size_t count = 0, next = 0, pairs = 0;
    for (const std::size_t valley : all) {
        if (next < some.size() && some[next] == valley) {
            if (next++ > 0) {
                ++between[count];
                ++pairs;
            }
            count = 0;
        } else {
            ++count;
        }
    }
    if (pairs < 2)
        return false;
    const auto most = std::ranges::max_element(between, {}, [](const auto& each) { return each.second; });
    return most->first > 0
        && static_cast<double>(most->second) >= kRegularValleys * static_cast<double>(pairs);
}

/// Of a first step, or before an evaluation, a valley may be one of its kind: it counts where the rhythm
/// wants one.
void Rhythm::addLone(std::vector<std::size_t>& chosen) const
{
    const std::size_t gap = usualGap(chosen);
    std::int64_t low = 0;
    for (const std::size_t valley : chosen)
        low = std::max(low, m_valleys[valley].bytes);
    const auto isFar = [&](std::size_t a, std::size_t b) {
        const std::size_t at = m_valleys[a].alloc, there = m_valleys[b].alloc;
        return 5 * (at > there ? at - there : there - at) >= 3 * gap;
    };
    std::vector<std::size_t> with;
    std::size_t next = 0;
    for (std::size_t valley = 0; valley < m_valleys.size(); ++valley) {
        if (next < chosen.size() && chosen[next] == valley) {
            with.push_back(valley);
            ++next;
        } else if ((with.empty() || isFar(with.back(), valley))
            && (next == chosen.size() || isFar(chosen[next], valley))
            && isLow(m_valleys[valley].bytes, wrapAdd(low, low / 2))) {
            with.push_back(valley);
        }
    }
    chosen = std::move(with);
}

std::vector<std::size_t> Rhythm::usualOnes() const
{
    std::vector<const ValleyKind*> usual;
    for (const ValleyKind& kind : m_kinds)
        if (static_cast<double>(kind.valleys.size())
            >= std::max(2., kUsual * static_cast<double>(m_valleys.size())))
            usual.push_back(&kind);
    std::vector<std::size_t> chosen;
    if (usual.empty())
        return chosen;
    std::int64_t lowest = m_top;
    for (const ValleyKind* kind : usual)
        lowest = std::min(lowest, kind->bytes);
    std::erase_if(usual, [&](const ValleyKind* kind) { return !isLow(kind->bytes, lowest); });
    const auto merged = [](const std::vector<const ValleyKind*>& kinds) {
        std::vector<std::size_t> valleys;
        for (const ValleyKind* kind : kinds)
            valleys.insert(valleys.end(), kind->valleys.begin(), kind->valleys.end());
        std::ranges::sort(valleys);
        return valleys;
    };
    chosen = merged(usual);
    if (usual.size() > 1) { // of an outer and an inner rhythm the outer
        std::size_t fewest = m_valleys.size();
        for (const ValleyKind* kind : usual)
            fewest = std::min(fewest, kind->valleys.size());
        std::vector<const ValleyKind*> rare;
        std::ranges::copy_if(usual, std::back_inserter(rare),
            [fewest](const ValleyKind* kind) { return 4 * kind->valleys.size() <= 5 * fewest; });
        if (rare.size() < usual.size())
            if (const std::vector<std::size_t> some = merged(rare); recurs(chosen, some))
                chosen = some;
    }
    addLone(chosen);
    return chosen;
}

/// Where each so many are clearly lower than the rest (gradients went), those alone. Levels are not below 0:
/// some 200 at most are so far apart that they are tried.
std::vector<std::size_t> Rhythm::lowerOnes(std::vector<std::size_t> chosen) const
{
    std::vector<std::int64_t> levels;
    for (const std::size_t valley : chosen)
        levels.push_back(m_valleys[valley].bytes);
    std::ranges::sort(levels);
    std::optional<std::vector<std::size_t>> best;
    std::int64_t tried = -1;
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        const std::int64_t level = levels[i], next = levels[i + 1];
        if (wrapSub(next, level) <= m_top / 100 && next <= wrapAdd(level, wrapAdd(level / 2, 4096)))
            continue;
        if (i < 2 || 3 * (i + 1) > 2 * chosen.size() || levels[i] == tried)
            continue;
        tried = levels[i];
        std::vector<std::size_t> low;
        std::ranges::copy_if(chosen, std::back_inserter(low),
            [&](std::size_t valley) { return m_valleys[valley].bytes <= tried; });
        if (recurs(chosen, low))
            best = std::move(low);
    }
    return best ? *best : chosen;
}

/// An evaluation comes between two valleys that nothing like a step lies between: what is local rises less
/// than in others, by fewer allocs. (Batches of another length rise less, by as many.)
std::vector<std::size_t> Rhythm::withoutFlat(std::vector<std::size_t> chosen) const
{
    std::vector<double> rises, lengths;
    std::size_t before = 0;
    for (const std::size_t valley : chosen) {
        const std::size_t alloc = m_valleys[valley].alloc;
        rises.push_back(
            static_cast<double>(*std::max_element(m_bytes.begin() + static_cast<std::ptrdiff_t>(before),
                m_bytes.begin() + static_cast<std::ptrdiff_t>(alloc) + 1)));
        lengths.push_back(static_cast<double>(alloc - before));
        before = alloc;
    }
    if (chosen.size() < 3)
        return chosen;
    // What most of the trace rises to: evaluations may be many, and are short.
    std::vector<std::size_t> order(chosen.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, std::greater<>(), [&](std::size_t i) { return rises[i]; });
    const double all = std::accumulate(lengths.begin(), lengths.end(), 0.);
    double most = 0, seen = 0;
    for (const std::size_t i : order)
        if (2 * seen < all) {
            most = rises[i];
            seen += lengths[i];
        }
    const double rise = kStepRise * most;
    std::vector<double> usual;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (rises[i] >= rise)
            usual.push_back(lengths[i]);
    std::ranges::sort(usual);
    const double length = kStepLength * usual[(usual.size() - 1) / 2];
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (rises[i] >= rise || lengths[i] >= length)
            kept.push_back(chosen[i]);
    return kept;
}

/// Of two that are less than half a step apart, the lower, of equals the first.
std::vector<std::size_t> Rhythm::apart(const std::vector<std::size_t>& chosen) const
{
    const std::size_t gap = usualGap(chosen);
    std::vector<std::size_t> kept;
    for (const std::size_t valley : chosen) {
        if (kept.empty() || 2 * (m_valleys[valley].alloc - m_valleys[kept.back()].alloc) >= gap)
            kept.push_back(valley);
        else if (m_valleys[valley].bytes < m_valleys[kept.back()].bytes)
            kept.back() = valley;
    }
    return kept;
}

} // namespace

StepEnds endsOfRhythm(const DeviceTrace& trace, const Progress& progress)
{
    if (trace.blocks().bornCount() < kFewestPeriodAllocs)
        return {};
    return Rhythm(trace, progress).ends();
}

} // namespace strata::model
