// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/accumulation.h"

#include "model/trace/program/roles.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace strata::model {

namespace {

constexpr std::size_t kNever = SIZE_MAX;

bool isFree(const ProgramRun::Ask& ask)
{
    return ask.action == Action::FreeRequested || ask.action == Action::FreeCompleted;
}

/// Asks in which blocks come and go, by their numbers.
struct Lives {
    std::vector<std::size_t> born, gone, completed;

    explicit Lives(const ProgramRun& run)
        : born(run.blocks.size(), kNever)
        , gone(run.blocks.size(), kNever)
        , completed(run.blocks.size(), kNever)
    {
        for (std::size_t at = 0; at < run.asks.size(); ++at) {
            const ProgramRun::Ask& ask = run.asks[at];
            if (ask.block >= run.blocks.size())
                continue;
            if (ask.action == Action::Alloc)
                born[ask.block] = at;
            else if (isFree(ask))
                gone[ask.block] = std::min(gone[ask.block], at);
            if (ask.action == Action::FreeCompleted)
                completed[ask.block] = at;
        }
    }
};

/// What becomes of a block when its micro-step is done once more.
enum class Fate : std::uint8_t {
    Inner, ///< comes and goes within it
    Gradient, ///< goes when it has been added
    Added, ///< a gradient that is a copy of what backward made: it is not made again
    Rebound, ///< goes as the variable gets the next one
    Carried, ///< goes within the next one
    Stays, ///< is not made again
};

/// A micro-step among asks.
struct StepRange {
    std::size_t first = 0, backward = 0, end = 0;
};

/// Does a micro-step several times.
class Repeating {
public:
    Repeating(const ProgramRun& run, const Lives& lives, ProgramRun& out, const StepRange& here,
        std::size_t nextFirst, std::size_t nextEnd, const Repeating* before)
        : m_run(run)
        , m_lives(lives)
        , m_out(out)
        , m_here(here)
        , m_nextFirst(nextFirst)
        , m_nextEnd(nextEnd)
    {
        for (std::size_t at = here.first; at < here.end; ++at)
            if (isBirth(at))
                m_births.push_back({ at, fateOf(at), 0, {}, {} });
        if (before != nullptr && nextFirst == nextEnd)
            doAs(*before);
        findGroups();
        findOffsets();
    }

    void repeat(std::int64_t times)
    {
        for (m_time = 1; m_time <= times; ++m_time)
            once(m_time == times);
    }

private:
    struct Birth {
        std::size_t at = 0;
        Fate fate = Fate::Inner;
        std::size_t offset = 0; ///< Carried: behind so many births of the next one
        std::optional<std::uint32_t> now, before; ///< which block it is this time, and was the time before
        std::vector<std::size_t> frees; ///< Rebound: births whose blocks of before go behind this one
    };

    [[nodiscard]] const ProgramRun::Ask& ask(std::size_t at) const { return m_run.asks[at]; }
    [[nodiscard]] bool isBirth(std::size_t at) const
    {
        return ask(at).action == Action::Alloc && ask(at).block < m_run.blocks.size();
    }
    [[nodiscard]] std::size_t goneOf(std::size_t birth) const { return m_lives.gone[ask(birth).block]; }
    [[nodiscard]] bool isGradient(std::size_t birth) const
    {
        return birth >= m_here.backward && goneOf(birth) >= m_here.end;
    }

    /// It goes before anything else is asked for: a function of backward works with it, and goes on.
    [[nodiscard]] bool isScratch(std::size_t birth) const
    {
        std::size_t next = birth + 1;
        while (next < m_here.end && !isBirth(next))
            ++next;
        return goneOf(birth) < next;
    }

    /// Something goes that was not scratch.
    [[nodiscard]] bool isRelease(std::size_t at) const
    {
        const std::uint32_t block = ask(at).block;
        return isFree(ask(at)) && block < m_run.blocks.size() && m_lives.born[block] < at
            && !isScratch(m_lives.born[block]);
    }

    [[nodiscard]] Fate fateOf(std::size_t birth) const
    {
        const std::size_t gone = goneOf(birth);
        if (gone < m_here.end)
            return Fate::Inner;
        if (birth >= m_here.backward)
            return isCopied(birth) ? Fate::Added : Fate::Gradient;
        if (gone < m_nextFirst)
            return Fate::Rebound;
        return gone < m_nextEnd ? Fate::Carried : Fate::Stays;
    }

    /// What is as large as it goes right behind it, and was there before.
    [[nodiscard]] bool isCopied(std::size_t birth) const
    {
        for (std::size_t at = birth + 1; at < m_here.end && !isBirth(at); ++at) {
            if (!isFree(ask(at)) || ask(at).block >= m_run.blocks.size())
                continue;
            const std::uint32_t other = ask(at).block;
            if (m_lives.born[other] < birth && m_lives.born[other] >= m_here.backward
                && m_run.blocks[other].bytes == m_run.blocks[ask(birth).block].bytes)
                return true;
        }
        return false;
    }

    /// Variables that get their next ones together: nothing is born between them that is still there then.
    void findGroups()
    {
        std::vector<std::size_t> group;
        const auto close = [&] {
            if (!group.empty())
                m_births[group.back()].frees = group;
            group.clear();
        };
        for (std::size_t i = 0; i < m_births.size(); ++i) {
            if (m_births[i].fate != Fate::Rebound)
                continue;
            const bool goesOn = !group.empty()
                && std::none_of(m_births.begin() + static_cast<std::ptrdiff_t>(group.back()) + 1,
                    m_births.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Birth& between) { return goneOf(between.at) > m_births[i].at; });
            if (!goesOn)
                close();
            group.push_back(i);
        }
        close();
    }

    /// The program ended before it let go of what it had let go of in the step before.
    void doAs(const Repeating& before)
    {
        for (std::size_t i = 0; i < std::min(m_births.size(), before.m_births.size()); ++i) {
            const Birth& other = before.m_births[i];
            if (m_births[i].fate == Fate::Stays && isHeld(other.fate)
                && m_run.blocks[ask(m_births[i].at).block].bytes == m_run.blocks[ask(other.at).block].bytes) {
                m_births[i].fate = Fate::Carried;
                m_births[i].offset = other.fate == Fate::Carried ? other.offset : i + 1;
            }
        }
    }

    void findOffsets()
    {
        std::vector<std::size_t> births;
        for (std::size_t at = m_nextFirst; at < m_nextEnd && at < m_run.asks.size(); ++at)
            if (isBirth(at))
                births.push_back(at);
        for (std::size_t i = 0; i < m_births.size(); ++i) {
            Birth& birth = m_births[i];
            if (birth.fate != Fate::Carried)
                continue;
            if (goneOf(birth.at) != kNever)
                birth.offset = static_cast<std::size_t>(
                    std::ranges::lower_bound(births, goneOf(birth.at)) - births.begin());
            m_carried.push_back(i);
        }
        std::ranges::stable_sort(m_carried, {}, [&](std::size_t i) { return m_births[i].offset; });
    }

    [[nodiscard]] static bool isOnce(Fate fate) { return fate == Fate::Added || fate == Fate::Stays; }
    [[nodiscard]] static bool isHeld(Fate fate) { return fate == Fate::Rebound || fate == Fate::Carried; }

    void once(bool isLast)
    {
        for (Birth& birth : m_births) {
            birth.before = birth.now;
            birth.now.reset();
        }
        std::size_t next = 0; // of births
        std::vector<std::uint32_t> added; // gradients that have not been let go
        bool letsGo = false; // a function of backward has come to its end
        const auto letGo = [&] {
            for (const std::uint32_t block : added)
                free(block);
            added.clear();
        };
        m_nextCarried = 0;
        freeCarried(0);
        for (std::size_t at = m_here.first; at < m_here.end; ++at) {
            if (!isBirth(at)) {
                letsGo = letsGo || isRelease(at);
                other(at);
                continue;
            }
            Birth& birth = m_births[next++];
            if ((letsGo || !isGradient(at)) && !isScratch(at))
                letGo();
            letsGo = letsGo && isScratch(at);
            if (m_time == 1 || !isOnce(birth.fate))
                bear(birth, isLast);
            if (m_time > 1 && birth.fate == Fate::Gradient)
                added.push_back(*birth.now);
            for (const std::size_t freed : birth.frees)
                if (m_births[freed].before)
                    free(*m_births[freed].before);
            freeCarried(next);
        }
        letGo();
        freeCarried(kNever); // what was to go later, in a longer one
        if (m_time > 1)
            for (const Birth& birth : m_births)
                if (birth.fate == Fate::Inner && m_lives.completed[ask(birth.at).block] >= m_here.end)
                    m_out.asks.push_back({ Action::FreeCompleted, *birth.now, like() });
    }

    /// The blocks of before that go by when so many have been born.
    void freeCarried(std::size_t births)
    {
        for (; m_nextCarried < m_carried.size() && m_births[m_carried[m_nextCarried]].offset <= births;
             ++m_nextCarried)
            if (const Birth& birth = m_births[m_carried[m_nextCarried]]; birth.before)
                free(*birth.before);
    }

    void bear(Birth& birth, bool isLast)
    {
        ProgramRun::Ask made = ask(birth.at);
        const std::uint32_t recorded = made.block;
        // Who outlives the micro-step does so as what was recorded: a gradient of the first, a variable of
        // the last.
        const bool isRecorded = isHeld(birth.fate) ? isLast : m_time == 1;
        if (!isRecorded) {
            made.block = static_cast<std::uint32_t>(m_out.blocks.size());
            m_out.blocks.push_back(m_run.blocks[recorded]);
        }
        if (m_time > 1)
            made.like = like();
        m_out.asks.push_back(made);
        birth.now = made.block;
    }

    /// All but births.
    void other(std::size_t at)
    {
        ProgramRun::Ask asked = ask(at);
        const bool isOurs = asked.block < m_run.blocks.size() && m_lives.born[asked.block] >= m_here.first
            && m_lives.born[asked.block] < at;
        if (!isOurs) {
            if (m_time == 1)
                m_out.asks.push_back(asked);
            return;
        }
        const auto birth = std::ranges::lower_bound(m_births, m_lives.born[asked.block], {}, &Birth::at);
        if (!birth->now)
            return;
        asked.block = *birth->now;
        if (m_time > 1)
            asked.like = like();
        m_out.asks.push_back(asked);
    }

    void free(std::uint32_t block)
    {
        m_out.asks.push_back({ Action::FreeRequested, block, like() });
        m_out.asks.push_back({ Action::FreeCompleted, block, like() });
    }

    [[nodiscard]] EventIndex like() const { return ask(m_here.end - 1).like; }

    const ProgramRun& m_run;
    const Lives& m_lives;
    ProgramRun& m_out;
    StepRange m_here;
    std::size_t m_nextFirst, m_nextEnd;
    std::vector<Birth> m_births;
    std::vector<std::size_t> m_carried; // births, by their offsets
    std::size_t m_nextCarried = 0;
    std::int64_t m_time = 0;
};

bool isBackward(Phase phase)
{
    return phase == Phase::Backward || phase == Phase::Recompute;
}

Failure severalBackwards()
{
    return fail(Error::Kind::Refused,
        say("a step of the training has several backwards: it accumulates already, or trains several "
            "optimizers in turns, and nothing tells which of them go together"),
        say("record it with one forward and one backward a step"));
}

} // namespace

Result<Accumulation> Accumulation::of(const DeviceTrace& trace, const TrainingSteps& steps)
{
    Accumulation all;
    std::vector<EventIndex> stepped;
    for (const RoleListing& listing : RoleListings::of(trace.recording(), trace.device()))
        if (wire::isStep(listing.kind))
            stepped.push_back(listing.event);
    std::ranges::sort(stepped);
    for (const TrainingStep& step : steps.steps) {
        if (step.kind != StepKind::Train && step.kind != StepKind::Incomplete)
            continue;
        MicroStep found{ step.first, -1, -1 };
        bool isBehind = false; // a backward, with gradients on: another forward, or what a GradScaler does
        for (const PhaseSpan& span : step.phases) {
            if (isBackward(span.phase)) {
                if (isBehind)
                    return severalBackwards();
                found.backward = found.backward < 0 ? span.first : found.backward;
                found.end = span.last + 1;
            } else if (span.phase == Phase::Forward && found.backward >= 0) {
                isBehind = true;
            }
        }
        if (found.backward <= found.first)
            continue;
        if (step.microSteps > 1)
            return severalBackwards();
        if (const auto next = std::ranges::upper_bound(stepped, found.backward);
            next != stepped.end() && *next < found.end)
            return fail(Error::Kind::Refused,
                say("an optimizer steps within backward: gradients are not there long enough to be "
                    "accumulated"),
                say("record the program with its optimizer behind backward"));
        all.m_microSteps.push_back(found);
    }
    if (all.m_microSteps.empty())
        return fail(Error::Kind::Refused,
            say("no step of the training with a forward and a backward is known, which would be repeated"),
            say("record the program with strata record, some steps of its training"));
    all.findGrowth(trace);
    return all;
}

void Accumulation::findGrowth(const DeviceTrace& trace)
{
    constexpr std::int64_t kRounding = 512; // of sizes, without roundup_power2_divisions
    const BlockColumns& blocks = trace.blocks();
    std::vector<Growth> steps(m_microSteps.size());
    std::size_t step = 0; // the last one that has begun
    for (std::size_t row = 0; row < blocks.bornCount(); ++row) {
        const BlockId block = BlockId::born(row);
        while (step + 1 < m_microSteps.size() && m_microSteps[step + 1].first <= blocks.birth(block))
            ++step;
        // What is there when the last backward ends; a program may let go of it at its own end.
        if (blocks.birth(block) < m_microSteps.front().first
            || std::min(blocks.death(block), blocks.pendingSince(block)) < m_microSteps.back().end)
            continue;
        const std::int64_t bytes = blocks.requestedBytes[block];
        steps[step].requestedBytes += bytes;
        steps[step].allocatedBytes += (bytes + kRounding - 1) / kRounding * kRounding;
    }
    if (steps.size() > 2)
        m_growth = *std::min_element(steps.begin() + 1, steps.end() - 1,
            [](const Growth& one, const Growth& other) { return one.requestedBytes < other.requestedBytes; });
}

Accumulation::Growth Accumulation::mayGrow(std::int64_t microSteps) const
{
    const std::int64_t times = (microSteps - 1) * static_cast<std::int64_t>(m_microSteps.size());
    return { m_growth.requestedBytes * times, m_growth.allocatedBytes * times };
}

ProgramRun Accumulation::accumulated(const ProgramRun& run, std::int64_t microSteps) const
{
    if (microSteps <= 1)
        return run;
    std::vector<StepRange> stretches;
    const auto placeOf = [&](EventIndex event) {
        return static_cast<std::size_t>(
            std::ranges::lower_bound(run.asks, event, {}, &ProgramRun::Ask::like) - run.asks.begin());
    };
    std::int64_t asks = 0;
    for (const MicroStep& step : m_microSteps) {
        stretches.push_back({ placeOf(step.first), placeOf(step.backward), placeOf(step.end) });
        asks += static_cast<std::int64_t>(stretches.back().end - stretches.back().first);
    }
    const std::int64_t times
        = std::min(microSteps, std::max(kMostAsks / std::max<std::int64_t>(asks, 1), kLeastMicroSteps));
    const Lives lives(run);
    ProgramRun out;
    out.blocks = run.blocks;
    out.reordered = true;
    std::size_t at = 0;
    std::optional<Repeating> before;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const StepRange& here = stretches[i];
        out.asks.insert(out.asks.end(), run.asks.begin() + static_cast<std::ptrdiff_t>(at),
            run.asks.begin() + static_cast<std::ptrdiff_t>(here.first));
        at = here.end;
        if (here.end <= here.first)
            continue;
        const bool isLast = i + 1 == stretches.size();
        Repeating repeating(run, lives, out, here, isLast ? run.asks.size() : stretches[i + 1].first,
            isLast ? run.asks.size() : stretches[i + 1].end, before ? &*before : nullptr);
        repeating.repeat(times);
        before.emplace(std::move(repeating));
    }
    out.asks.insert(out.asks.end(), run.asks.begin() + static_cast<std::ptrdiff_t>(at), run.asks.end());
    return out;
}

} // namespace strata::model
