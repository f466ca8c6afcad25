// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/ledger/kept_iteration.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

namespace strata::model {

namespace {

constexpr std::int64_t kFewestHeld = 8; // blocks: fewer may be outputs that the program means to keep
constexpr std::int64_t kStayingShare = 20; // one part in so many

bool mayBeOfGraph(Category category)
{
    return category == Category::Activation || category == Category::Unknown
        || category == Category::Temporary;
}

bool isIteration(const TrainingStep& step)
{
    return step.kind == StepKind::Train || step.kind == StepKind::Forward || step.kind == StepKind::Eval;
}

} // namespace

std::optional<KeptIteration> keptIteration(const DeviceTrace& trace, const Categories& categories,
    const TrainingSteps& steps, EventIndex event, std::span<const BlockId> active)
{
    const TrainingStep* const step = event < 0 ? nullptr : steps.at(event);
    if (step == nullptr || step == &steps.steps.front() || !isIteration(*std::prev(step)))
        return std::nullopt;
    const TrainingStep& before = *std::prev(step);
    const BlockColumns& blocks = trace.blocks();
    const auto endOf
        = [&](BlockId block) { return std::min(blocks.pendingSince(block), blocks.death(block)); };
    std::vector<BlockId> held;
    for (const BlockId block : active) {
        const EventIndex birth = blocks.birth(block);
        if (birth >= before.first && birth <= before.last && mayBeOfGraph(categories.of(block).category))
            held.push_back(block);
    }
    if (std::ssize(held) < kFewestHeld)
        return std::nullopt;
    std::ranges::sort(held, {}, [&](BlockId block) { return blocks.birth(block); });

    // Births of this step, by stack trace and size.
    using Twin = std::pair<std::uint32_t, std::int64_t>;
    const auto twinOf = [&](BlockId block) {
        return Twin{ blocks.stack[block].value, blocks.requestedBytes[block] };
    };
    boost::unordered_flat_map<Twin, std::vector<EventIndex>> made;
    for (const BlockId block : held)
        made[twinOf(block)];
    const EventColumns& events = trace.events();
    for (EventIndex e = step->first; e <= step->last; ++e) {
        const auto row = static_cast<std::size_t>(e);
        const BlockId block = events.block[row];
        if (events.action[row] == Action::Alloc && block.valid())
            if (const auto found = made.find(twinOf(block)); found != made.end())
                found->second.push_back(e);
    }

    // What goes before the next step allocates belongs to this one.
    const auto count = static_cast<EventIndex>(events.action.size());
    EventIndex last = step->last + 1;
    while (last < count && events.action[static_cast<std::size_t>(last)] != Action::Alloc)
        ++last;

    KeptIteration kept;
    kept.kind = before.kind;
    boost::unordered_flat_map<Twin, std::size_t> used;
    std::array<std::int64_t, kCategories> byCategory{};
    std::int64_t staying = 0;
    for (const BlockId block : held) {
        const std::int64_t bytes = blocks.requestedBytes[block];
        const std::vector<EventIndex>& twins = made[twinOf(block)];
        std::size_t& next = used[twinOf(block)];
        const EventIndex end = endOf(block);
        const bool replaced = next < twins.size() && end > twins[next] && end < last;
        ++next;
        if (!replaced) {
            staying = wrapAdd(staying, bytes);
            continue;
        }
        kept.bytes = wrapAdd(kept.bytes, bytes);
        kept.blocks += 1;
        std::int64_t& sum = byCategory[static_cast<std::size_t>(categories.of(block).category)];
        sum = wrapAdd(sum, bytes);
    }
    if (kept.blocks < kFewestHeld || staying > kept.bytes / kStayingShare)
        return std::nullopt;
    kept.category = static_cast<Category>(std::ranges::max_element(byCategory) - byCategory.begin());
    return kept;
}

} // namespace strata::model
