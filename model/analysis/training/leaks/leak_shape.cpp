// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leak_shape.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace strata::model {

namespace {

// Below these, what grows is not told from what happens to be there: measured on programs whose leaks are
// known, tests/truth/tests/test_leaks.py.
constexpr std::uint32_t kFewestCohorts = 5;
constexpr std::uint32_t kFewestInBunch = 3; ///< cohorts that end at once

/// What became of the blocks of one step.
struct Cohort {
    std::uint32_t born = 0;
    std::uint32_t lived = 0; ///< boundaries that its last block lived to see, 1 or more
    bool alive = false; ///< at the last one
};

struct Amount {
    double requested = 0, allocated = 0, blocks = 0;

    void add(const BlockStay& stay)
    {
        requested += static_cast<double>(stay.requestedBytes);
        allocated += static_cast<double>(stay.allocatedBytes);
        blocks += 1;
    }
};

std::vector<Cohort> cohortsOf(
    std::span<const BlockStay> stays, std::uint32_t warmup, std::uint32_t boundaries)
{
    std::vector<Cohort> cohorts;
    for (const BlockStay& stay : stays) {
        if (stay.born < warmup || stay.born >= boundaries)
            continue;
        if (cohorts.empty() || cohorts.back().born != stay.born)
            cohorts.push_back({ .born = stay.born });
        Cohort& cohort = cohorts.back();
        cohort.lived = std::max(cohort.lived, std::min(stay.gone, boundaries) - stay.born);
        cohort.alive = cohort.alive || stay.gone >= boundaries;
    }
    return cohorts;
}

/// Steps that cohorts live for which do end. A tenth of them may be accidents, but not the first ones.
std::uint32_t windowOf(std::span<const Cohort> cohorts)
{
    std::vector<std::uint32_t> lived;
    std::uint32_t window = 0;
    for (std::size_t i = 0; i < cohorts.size(); ++i) {
        if (!cohorts[i].alive && i < 2)
            window = std::max(window, cohorts[i].lived);
        if (!cohorts[i].alive)
            lived.push_back(cohorts[i].lived);
    }
    const std::size_t accidents = cohorts.size() / 10;
    if (lived.size() <= accidents)
        return window;
    std::ranges::nth_element(lived, lived.end() - 1 - static_cast<std::ptrdiff_t>(accidents));
    return std::max(window, lived[lived.size() - 1 - accidents]);
}

/// The last boundary before which several cohorts ended together, all of what was there.
std::optional<std::uint32_t> lastBunch(std::span<const Cohort> cohorts)
{
    std::vector<std::uint32_t> ends;
    for (const Cohort& cohort : cohorts)
        if (!cohort.alive)
            ends.push_back(cohort.born + cohort.lived);
    std::ranges::sort(ends);
    for (std::size_t i = ends.size(); i >= kFewestInBunch; --i)
        if (ends[i - 1] == ends[i - kFewestInBunch])
            return ends[i - 1];
    return std::nullopt;
}

/// Live bytes at each boundary from `first` on, of what was born after the warm-up. O(stays + boundaries)
/// where stays are many, else O(stays log stays).
StepSeries liveBytes(std::span<const BlockStay> stays, std::uint32_t first, std::uint32_t boundaries)
{
    const auto eachChange = [&](auto&& take) {
        for (const BlockStay& stay : stays) {
            if (stay.born < first || stay.born >= boundaries)
                continue;
            take(stay.born - first, static_cast<double>(stay.requestedBytes));
            if (stay.gone < boundaries)
                take(stay.gone - first, -static_cast<double>(stay.requestedBytes));
        }
    };
    StepSeries live(boundaries - first);
    live.add(0, 0);
    double bytes = 0;
    if (stays.size() >= (boundaries - first) / 8) {
        std::vector<double> changes(boundaries - first);
        eachChange([&](std::uint32_t boundary, double change) { changes[boundary] += change; });
        for (std::size_t boundary = 0; boundary < changes.size(); ++boundary)
            live.add(boundary, bytes += changes[boundary]);
        return live;
    }
    std::vector<std::pair<std::uint32_t, double>> changes;
    eachChange([&](std::uint32_t boundary, double change) { changes.emplace_back(boundary, change); });
    std::ranges::sort(changes);
    for (const auto& [boundary, change] : changes)
        live.add(boundary, bytes += change);
    return live;
}

class Judge {
public:
    Judge(
        std::span<const BlockStay> stays, std::uint32_t warmup, std::uint32_t boundaries, std::size_t points)
        : m_stays(stays)
        , m_warmup(warmup)
        , m_boundaries(boundaries)
        , m_points(points)
        , m_cohorts(cohortsOf(stays, warmup, boundaries))
    {
    }

    LeakShape shape()
    {
        if (m_cohorts.empty())
            return m_shape;
        m_shape.window = windowOf(m_cohorts);
        m_shape.firstBoundary = m_cohorts.front().born;
        for (const Cohort& cohort : m_cohorts)
            if (cohort.alive && m_boundaries - cohort.born > m_shape.window)
                m_stayed.push_back(cohort.born);
        if (const auto bunch = lastBunch(m_cohorts); bunch && !survived(*bunch))
            return ended(LeakShape::Kind::Sawtooth);
        if (m_stayed.size() < 2 && grows())
            return m_shape;
        if (m_stayed.empty())
            return m_shape.window >= kFewestInBunch && m_cohorts.size() >= kFewestCohorts
                ? ended(windowKind())
                : m_shape;
        stayed();
        return m_shape;
    }

private:
    LeakShape ended(LeakShape::Kind kind)
    {
        m_shape.kind = kind;
        m_shape.doubt
            = kind == LeakShape::Kind::Unclear ? LeakShape::Doubt::WindowTooLong : LeakShape::Doubt::None;
        m_shape.cohorts = static_cast<std::uint32_t>(m_cohorts.size());
        return m_shape;
    }

    /// A window is seen once two cohorts have left it.
    [[nodiscard]] LeakShape::Kind windowKind() const
    {
        const auto left = std::ranges::count_if(m_cohorts,
            [&](const Cohort& cohort) { return !cohort.alive && cohort.lived + 1 >= m_shape.window; });
        return left >= 2 ? LeakShape::Kind::Window : LeakShape::Kind::Unclear;
    }

    /// Whether half of the cohorts of before `boundary` are alive at the end.
    [[nodiscard]] bool survived(std::uint32_t boundary) const
    {
        const auto before = [&](const Cohort& cohort) { return cohort.born < boundary; };
        const auto all = std::ranges::count_if(m_cohorts, before);
        const auto alive = std::ranges::count_if(
            m_cohorts, [&](const Cohort& cohort) { return before(cohort) && cohort.alive; });
        return 2 * alive >= all;
    }

    /// One block after the other, each larger.
    bool grows()
    {
        if (m_cohorts.size() < kFewestCohorts)
            return false;
        // Until as many steps are there as blocks live for, any of them grow.
        std::uint32_t first = m_cohorts.front().born + std::max(1u, m_shape.window) - 1;
        if (first + kFewestCohorts >= m_boundaries)
            return false;
        const StepSeries live = liveBytes(m_stays, m_warmup, m_boundaries);
        StepSeries series = live.slice(first - m_warmup, live.size() - (first - m_warmup));
        if (const std::size_t drop = series.lastDrop(); drop <= series.size() / 4) { // it may begin behind it
            first += static_cast<std::uint32_t>(drop);
            series = series.slice(drop, series.size() - drop);
        }
        const std::size_t quiet = series.quiet();
        m_shape.quiet = static_cast<std::uint32_t>(quiet);
        if (!growsThroughout(series, 0.02, m_points)) {
            const StepSeries growing = series.slice(0, series.size() - quiet);
            if (quiet >= 3 && growing.size() >= kFewestCohorts && growsThroughout(growing, 0.02, m_points))
                m_shape.kind = LeakShape::Kind::Stopped;
            return m_shape.kind == LeakShape::Kind::Stopped;
        }
        m_shape.kind = LeakShape::Kind::Grows;
        m_shape.firstBoundary = first;
        m_shape.cohorts = series.rises();
        m_shape.requestedPerStep = medianSlope(series, m_points);
        const auto allocated = [&](std::uint32_t boundary) {
            double bytes = 0;
            for (const BlockStay& stay : m_stays)
                if (stay.born >= m_warmup && stay.born <= boundary && stay.gone > boundary)
                    bytes += static_cast<double>(stay.allocatedBytes);
            return bytes;
        };
        m_shape.allocatedPerStep
            = (allocated(m_boundaries - 1) - allocated(first)) / static_cast<double>(series.size() - 1);
        return true;
    }

    /// What came in one step after the other and is still there.
    void stayed()
    {
        using Kind = LeakShape::Kind;
        using Doubt = LeakShape::Doubt;
        m_shape.cohorts = static_cast<std::uint32_t>(m_stayed.size());
        m_shape.firstBoundary = m_stayed.front();
        const std::uint32_t end
            = m_boundaries - std::min(m_shape.window, m_boundaries); // of those that count
        m_shape.quiet = end - 1 - m_stayed.back();
        std::vector<std::uint32_t> gaps;
        for (std::size_t i = 1; i < m_stayed.size(); ++i)
            gaps.push_back(m_stayed[i] - m_stayed[i - 1]);
        const std::uint32_t widest = gaps.empty() ? 1 : std::ranges::max(gaps);
        std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2));
        const std::uint32_t usual = gaps.empty() ? 1 : gaps[gaps.size() / 2];
        m_irregular = widest > 2 * usual;
        setRates(usual, end);
        const auto unclear = [&](Doubt doubt) {
            m_shape.kind = Kind::Unclear;
            m_shape.doubt = doubt;
        };
        if (m_shape.quiet >= 3 * widest) {
            m_shape.kind = m_stayed.size() > 1 ? Kind::Stopped : Kind::Steady;
            return;
        }
        if (m_shape.cohorts < 3)
            return;
        if (m_shape.cohorts < kFewestCohorts)
            return unclear(Doubt::FewSteps);
        if (m_shape.quiet > widest)
            return unclear(Doubt::Paused);
        if (2 * (m_shape.firstBoundary - m_warmup) > m_boundaries - m_warmup)
            return unclear(Doubt::LateStart);
        const double kept = secondHalfOverFirst(end);
        if (kept < 0.5)
            return unclear(Doubt::Slows);
        if (m_irregular && (kept < 0.8 || 2 * m_stayed.size() < m_cohorts.size()))
            return unclear(Doubt::Irregular);
        m_shape.kind = waits() ? Kind::Waits : Kind::Leak;
    }

    /// What most cohorts have, or else all of them together, in whole periods: what comes every second step
    /// counts from one of those steps to the next.
    void setRates(std::uint32_t period, std::uint32_t end)
    {
        std::vector<Amount> each(m_stayed.size());
        Amount sum;
        std::size_t cohort = 0; // stays come in the order of births, as cohorts do
        for (const BlockStay& stay : m_stays) {
            if (stay.gone < m_boundaries || stay.born < m_shape.firstBoundary || stay.born >= end)
                continue;
            sum.add(stay);
            while (cohort < m_stayed.size() && m_stayed[cohort] < stay.born)
                ++cohort;
            if (cohort < m_stayed.size() && m_stayed[cohort] == stay.born)
                each[cohort].add(stay);
        }
        double steps = m_stayed.back() - m_stayed.front() + period;
        std::vector<double> bytes;
        for (const Amount& amount : each)
            bytes.push_back(amount.requested);
        std::ranges::nth_element(bytes, bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2));
        const double usual = bytes[bytes.size() / 2];
        if (10 * std::ranges::count(bytes, usual) >= 8 * static_cast<std::ptrdiff_t>(bytes.size())) {
            sum = *std::ranges::find(each, usual, &Amount::requested);
            steps /= static_cast<double>(m_stayed.size());
        }
        m_shape.requestedPerStep = sum.requested / steps;
        m_shape.allocatedPerStep = sum.allocated / steps;
        m_shape.blocksPerStep = sum.blocks / steps;
    }

    /// The smaller of blocks and bytes that stayed, later over earlier.
    [[nodiscard]] double secondHalfOverFirst(std::uint32_t end) const
    {
        const std::uint32_t first = m_shape.firstBoundary, middle = first + (end - first) / 2;
        Amount early, late;
        double earlyCohorts = 0, lateCohorts = 0;
        for (const BlockStay& stay : m_stays)
            if (stay.gone >= m_boundaries && stay.born >= first && stay.born < end)
                (stay.born < middle ? early : late).add(stay);
        for (const std::uint32_t born : m_stayed)
            (born < middle ? earlyCohorts : lateCohorts) += 1;
        const double halves = static_cast<double>(middle - first) / std::max(1u, end - middle);
        return halves * std::min(late.requested / early.requested, lateCohorts / earlyCohorts);
    }

    /// Most of what stayed is freed already.
    [[nodiscard]] bool waits() const
    {
        std::size_t all = 0, waiting = 0;
        for (const BlockStay& stay : m_stays) {
            if (stay.gone < m_boundaries || stay.born < m_shape.firstBoundary)
                continue;
            ++all;
            waiting += stay.waits < m_boundaries;
        }
        return 2 * waiting > all;
    }

    std::span<const BlockStay> m_stays;
    std::uint32_t m_warmup, m_boundaries;
    std::size_t m_points;
    std::vector<Cohort> m_cohorts;
    std::vector<std::uint32_t> m_stayed; // births of cohorts that outlived what others live
    bool m_irregular = false;
    LeakShape m_shape;
};

} // namespace

LeakShape shapeOf(
    std::span<const BlockStay> stays, std::uint32_t warmup, std::uint32_t boundaries, std::size_t points)
{
    return Judge(stays, warmup, boundaries, points).shape();
}

} // namespace strata::model
