// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/guessed_owners.h"

#include "model/analysis/training/steps/step_ends.h"
#include "model/trace/program/roles.h"
#include "model/whatif/ask/lacks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

/// An alloc of the step.
struct Ask {
    EventIndex event = 0;
    std::uint32_t block = StepOwners::kNoBlock;
    ThreadIndex thread = kNoIndex;
    ModuleIndex module = kNoIndex;
    StackId stack;
};

std::optional<StepStretch> typicalStep(const DeviceTrace& trace, const TrainingSteps& steps)
{
    std::optional<StepStretch> last;
    std::map<std::uint32_t, EventIndex> begins; // by optimizer, where its step before ended
    for (const RoleListing& row : RoleListings::of(trace.recording(), trace.device())) {
        if (row.kind != wire::RoleKind::Stepped || row.event <= 0 || row.event > trace.eventCount())
            continue;
        const auto [before, isFirst] = begins.try_emplace(row.optimizer, row.event);
        const StepStretch stretch{ std::exchange(before->second, row.event), row.event };
        const TrainingStep* const step = steps.at(row.event - 1);
        if (isFirst || stretch.begin >= stretch.end || step == nullptr || step->kind != StepKind::Train)
            continue;
        // The one before it may still be a first one in what it does to memory.
        if (last && !step->warmup)
            return stretch;
        last = stretch;
    }
    return last;
}

class Guess {
public:
    Guess(const DeviceTrace& trace, const TrainingSteps& steps, StepStretch stretch)
        : m_trace(trace)
        , m_steps(steps)
        , m_stretch(stretch)
    {
        const EventColumns& events = trace.events();
        for (EventIndex event = stretch.begin; event < stretch.end; ++event) {
            const auto row = static_cast<std::size_t>(event);
            const BlockId block = events.block[row];
            if (events.action[row] != Action::Alloc || !block.valid() || block.isOlder())
                continue;
            const Phase phase = steps.phaseAt(event);
            const Ask ask{ event, static_cast<std::uint32_t>(block.row()), events.threadOf(row),
                events.moduleOf(row), events.stack[row] };
            if (phase == Phase::Forward)
                m_forward[ask.thread].push_back(ask);
            else if (phase == Phase::Backward)
                m_backward.push_back(ask);
        }
    }

    [[nodiscard]] bool tellsModules() const
    {
        return std::ranges::any_of(m_forward, [](const auto& thread) {
            return std::ranges::any_of(thread.second, [](const Ask& ask) { return ask.module != kNoIndex; });
        });
    }

    /// False: no module that matches asked for anything.
    bool find(const std::vector<ModuleChoice>& choices)
    {
        findLayers();
        findGradients();
        for (const auto& [thread, asks] : m_forward) {
            const std::vector<Operator> operators = operatorsOf(asks);
            findWindows(asks, operators, choices);
            findHolds(asks, operators);
        }
        std::ranges::sort(m_owners.windows, {}, &StepOwners::Window::enters);
        std::ranges::sort(m_owners.holds, {}, &StepOwners::Hold::saved);
        std::ranges::sort(m_owners.takes, {}, &StepOwners::Take::at);
        return !m_owners.windows.empty();
    }

    [[nodiscard]] StepOwners take() { return std::move(m_owners); }
    [[nodiscard]] bool isClear() const { return m_isClear; }

private:
    /// Of a module or one around it the outermost that a choice matches; empty: none does.
    [[nodiscard]] std::string_view chosen(ModuleIndex module, const std::vector<ModuleChoice>& choices) const
    {
        if (module == kNoIndex)
            return {};
        const Recording& recording = m_trace.recording();
        const std::string_view path = recording.strings[recording.modules[module]];
        for (std::size_t end = path.find('.');; end = path.find('.', end + 1)) {
            const std::string_view outer = path.substr(0, end);
            if (std::ranges::any_of(
                    choices, [&](const ModuleChoice& choice) { return choice.matches(outer, {}); }))
                return outer;
            if (end == std::string_view::npos)
                return {};
        }
    }

    /// What one operator asks for: allocs one after the other of the same module and line.
    struct Operator {
        std::size_t from = 0, end = 0; ///< of its asks
        std::optional<std::size_t> gives; ///< the largest that is left of them, of those the last
    };

    [[nodiscard]] std::vector<Operator> operatorsOf(const std::vector<Ask>& asks) const
    {
        std::vector<Operator> operators;
        for (std::size_t from = 0; from < asks.size(); from = operators.back().end) {
            Operator one{ from, from + 1, {} };
            while (one.end < asks.size() && asks[one.end].module == asks[from].module
                && asks[one.end].stack == asks[from].stack && asks[from].stack.valid())
                ++one.end;
            std::int64_t most = 0;
            for (std::size_t i = from; one.end < asks.size() && i < one.end; ++i) {
                const std::int64_t bytes = m_trace.blocks().requestedBytes[BlockId::born(asks[i].block)];
                if (bytes < most || recordedDeath(m_trace, asks[i].block).event < asks[one.end].event)
                    continue;
                most = bytes;
                one.gives = i;
            }
            operators.push_back(one);
        }
        return operators;
    }

    /// Calls of modules, which take what the operator before them gives.
    void findWindows(const std::vector<Ask>& asks, const std::vector<Operator>& operators,
        const std::vector<ModuleChoice>& choices)
    {
        std::string_view in;
        std::map<std::string_view, EventIndex> left; // where the call before ended
        std::set<ModuleIndex> seen; // layers of this call
        for (std::size_t i = 0; i < operators.size(); ++i) {
            const Ask& ask = asks[operators[i].from];
            const std::string_view path = chosen(ask.module, choices);
            if (!in.empty() && path != in) {
                m_owners.windows.back().leaves = { ask.event, kEdge };
                left[in] = ask.event;
            }
            if (!path.empty() && path != in) {
                StepOwners::Window window;
                window.thread = ask.thread;
                window.enters = { ask.event, kEdge };
                window.leaves = { asks.back().event + 1, kEdge };
                if (i > 0 && operators[i - 1].gives)
                    window.takes.push_back(asks[*operators[i - 1].gives].block);
                m_owners.windows.push_back(std::move(window));
                const auto before = left.find(path);
                m_isClear = m_isClear && (before == left.end() || hasBackward(before->second, ask.event));
                seen.clear();
            }
            const bool isNext = i == 0 || asks[operators[i - 1].from].module != ask.module;
            if (!path.empty() && isNext && isLayer(ask.module))
                m_isClear = seen.insert(ask.module).second && m_isClear;
            in = path;
        }
    }

    /// Those with parameters of their own and no modules within: within a call they work once.
    void findLayers()
    {
        const Recording& recording = m_trace.recording();
        std::set<std::string_view> owners, outer;
        for (const RoleListing& row : RoleListings::of(recording, m_trace.device()))
            if (const std::string_view name = recording.strings[row.name];
                row.kind == wire::RoleKind::Parameter && name.find('.') != name.npos)
                owners.insert(name.substr(0, name.rfind('.')));
        for (const StringId module : recording.modules)
            if (const std::string_view path = recording.strings[module]; path.find('.') != path.npos)
                for (std::size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1))
                    outer.insert(path.substr(0, dot));
        for (const StringId module : recording.modules)
            m_layers.push_back(
                owners.contains(recording.strings[module]) && !outer.contains(recording.strings[module]));
    }
    [[nodiscard]] bool isLayer(ModuleIndex module) const
    {
        return module < m_layers.size() && m_layers[module];
    }

    [[nodiscard]] bool hasBackward(EventIndex from, EventIndex to) const
    {
        const auto next = std::ranges::lower_bound(m_backward, from, {}, &Ask::event);
        return next != m_backward.end() && next->event < to;
    }

    /// What an operator gives is saved by the next; the rest is its own, as the statistics of a norm are.
    void findHolds(const std::vector<Ask>& asks, const std::vector<Operator>& operators)
    {
        for (std::size_t at = 0; at < operators.size(); ++at) {
            const Operator& one = operators[at];
            for (std::size_t i = one.from; i < one.end; ++i)
                if (i != one.gives)
                    hold(asks[i], { asks[one.end - 1].event + 1, kOwn }, asks[one.from], asks[one.end - 1]);
            if (!one.gives)
                continue;
            const Operator& next = operators[at + 1]; // there is one: else nothing is left of it
            hold(asks[*one.gives], { asks[next.from].event, kByNext }, asks[next.from], asks[next.end - 1]);
        }
    }

    /// A block that goes in backward is saved by an operator, whose first and last asks these are.
    void hold(const Ask& ask, DeepMoment saved, const Ask& first, const Ask& last)
    {
        const DeepMoment death = recordedDeath(m_trace, ask.block);
        if (death == kNeverInStep || death.event >= m_stretch.end
            || m_steps.phaseAt(death.event) != Phase::Backward)
            return;
        StepOwners::Hold hold;
        hold.block = ask.block;
        hold.thread = first.thread;
        hold.saved = saved;
        hold.unpacked = DeepMoment{ unpacked(first.module, death.event), 0 };
        hold.released = death;
        m_owners.holds.push_back(hold);
        m_owners.takes.push_back({ saved, first.thread, hold.block });
        m_owners.program[hold.block] = { last.event + 1, 0 };
    }

    /// Where gradients of modules begin, by modules: those of one after those of another.
    void findGradients()
    {
        for (std::size_t i = 0; i < m_backward.size(); ++i)
            if (i == 0 || m_backward[i - 1].module != m_backward[i].module)
                m_gradients[m_backward[i].module].push_back(m_backward[i].event);
    }

    /// Where the last gradients of a module before an event begin; else the last of any.
    [[nodiscard]] EventIndex unpacked(ModuleIndex module, EventIndex before) const
    {
        if (const auto begins = m_gradients.find(module); begins != m_gradients.end())
            if (const auto next = std::ranges::lower_bound(begins->second, before);
                next != begins->second.begin())
                return *(next - 1);
        const auto next = std::ranges::lower_bound(m_backward, before, {}, &Ask::event);
        return next == m_backward.begin() ? before : (next - 1)->event;
    }

    /// Of what stands between the same two events: what an operator keeps of its own is before the end of its
    /// module, and what the next one saves is within that's.
    static constexpr std::uint32_t kOwn = 0, kEdge = 1, kByNext = 2;

    const DeviceTrace& m_trace;
    const TrainingSteps& m_steps;
    StepStretch m_stretch;
    std::map<ThreadIndex, std::vector<Ask>> m_forward; ///< by thread
    std::vector<Ask> m_backward;
    std::map<ModuleIndex, std::vector<EventIndex>> m_gradients;
    StepOwners m_owners;
    std::vector<bool> m_layers; ///< by ModuleIndex
    bool m_isClear = true;
};

} // namespace

Result<GuessedStep> guessStepOwners(
    const DeviceTrace& trace, const TrainingSteps& steps, const std::vector<ModuleChoice>& choices)
{
    const auto stretch = typicalStep(trace, steps);
    if (!stretch)
        return fail(Error::Kind::Refused, say("no optimizer has told of a whole step of the training"));
    Guess guess(trace, steps, *stretch);
    if (!guess.tellsModules())
        return fail(Error::Kind::Refused, say("nothing tells which modules ask for what"));
    if (!guess.find(choices)) {
        const auto gpus = static_cast<std::int64_t>(trace.recording().devices.size());
        return fail(Error::Kind::Refused, say("no module of that path asks for anything in its forward"),
            gpus > 1 ? hintToRun(say("paths are those of strata ledger --by module, as path:blocks.**; classes "
                                     "the program itself tells: --confirm -- COMMAND, or strata dryrun "
                                     "--devices %1 --change",
                           gpus))
                     : say("paths are those of strata ledger --by module, as path:blocks.**; classes are known "
                           "of a deep step alone: strata record --deep-step 3 -- COMMAND"));
    }
    return GuessedStep{ *stretch, guess.take(), guess.isClear() };
}

} // namespace strata::model
