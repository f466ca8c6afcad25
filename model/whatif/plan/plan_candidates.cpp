// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/plan_candidates.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

/// A model of its own is called by its class, "Generator", or "Generator#2" where that is taken.
bool isRoot(std::string_view path, std::string_view type)
{
    return path.empty()
        || (path.starts_with(type) && (path.size() == type.size() || path[type.size()] == '#'));
}

/// A path is a pattern of `--change`, too: it stands for itself where it has nothing that such have.
bool isPlain(std::string_view path)
{
    return path.find_first_of("*?[],\n") == path.npos;
}

bool matchesAny(const std::vector<ModuleChoice>& choices, std::string_view path, std::string_view type)
{
    return std::ranges::any_of(
        choices, [&](const ModuleChoice& choice) { return choice.matches(path, type); });
}

class CandidateFinding {
public:
    CandidateFinding(const DeviceTrace& trace, const CheckpointRegions& regions,
        const std::vector<ModuleChoice>& among, const std::vector<ModuleChoice>& taken)
        : m_strings(trace.recording().strings)
        , m_regions(regions)
        , m_among(among)
        , m_taken(taken)
    {
    }

    std::vector<PlanCandidate> find()
    {
        std::map<std::uint32_t, std::vector<Open>> open; // by thread, the outermost first
        for (const StepOwners::Window& window : m_regions.owners().windows) {
            std::vector<Open>& around = open[window.thread];
            while (!around.empty() && !(window.enters < around.back().leaves))
                around.pop_back();
            around.push_back(openOf(window, around));
        }
        for (PlanCandidate& candidate : m_found)
            candidate.module.name = nameOf(candidate.module.path);
        return std::move(m_found);
    }

private:
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    struct Open {
        DeepMoment leaves;
        std::size_t candidate = kNone;
        bool isTaken = false; ///< checkpointed without the plan
    };

    Open openOf(const StepOwners::Window& window, const std::vector<Open>& around)
    {
        const std::string_view path = m_strings[window.path], type = m_strings[window.type];
        Open opened{ window.leaves, kNone,
            matchesAny(m_taken, path, type) || (!around.empty() && around.back().isTaken) };
        if (isRoot(path, type)) {
            if (!path.empty())
                m_roots.emplace(path, type);
            return opened;
        }
        if (opened.isTaken || !isPlain(path) || (!m_among.empty() && !matchesAny(m_among, path, type)))
            return opened;
        CheckpointRegion region = m_regions.regionOf(window);
        if (region.holds.empty() || !region.again)
            return opened;
        const auto [known, isNew] = m_numbers.emplace(path, m_found.size());
        opened.candidate = known->second;
        if (std::ranges::find(around, opened.candidate, &Open::candidate) != around.end())
            return opened; // it calls itself: the outermost call is checkpointed
        if (isNew) {
            PlanCandidate& made = m_found.emplace_back();
            made.module.path = path;
            made.module.type = type;
        }
        PlanCandidate& candidate = m_found[opened.candidate];
        candidate.regions.push_back(std::move(region));
        for (const Open& outer : around)
            if (outer.candidate != kNone && outer.candidate != opened.candidate
                && std::ranges::find(candidate.within, outer.candidate) == candidate.within.end())
                candidate.within.push_back(outer.candidate);
        return opened;
    }

    [[nodiscard]] NamedModule nameOf(const std::string& path) const
    {
        const std::size_t dot = path.find('.');
        const auto root = m_roots.find(path.substr(0, dot));
        if (root == m_roots.end() || dot == path.npos)
            return { path, {} };
        return { path.substr(dot + 1), root->second };
    }

    const StringTable& m_strings;
    const CheckpointRegions& m_regions;
    const std::vector<ModuleChoice>&m_among, &m_taken;
    std::vector<PlanCandidate> m_found;
    std::map<std::string_view, std::size_t> m_numbers; // by path
    std::map<std::string, std::string> m_roots; // by path, their classes
};

/// What goes earlier less what stays longer, if those alone are checkpointed.
std::int64_t savedBytes(
    const CheckpointRegions& regions, const PlanCandidate& candidate, const std::vector<std::int64_t>& bytes)
{
    std::vector<const CheckpointRegion*> each;
    for (const CheckpointRegion& region : candidate.regions)
        each.push_back(&region);
    std::int64_t saved = 0;
    for (const StepEdits::Change& change : regions.edits(each).changes)
        saved += change.rule == BlockRule::LetGo ? bytes[change.block] : -bytes[change.block];
    return saved;
}

} // namespace

std::vector<PlanCandidate> planCandidates(const DeviceTrace& trace, const CheckpointRegions& regions,
    const RecomputeCost& cost, const std::vector<std::int64_t>& bytes, const std::vector<ModuleChoice>& among,
    const std::vector<ModuleChoice>& taken)
{
    std::vector<PlanCandidate> all = CandidateFinding(trace, regions, among, taken).find();
    const auto forward = static_cast<double>(std::max<std::int64_t>(forwardCost(regions, cost), 1));
    std::vector<std::size_t> numbers(all.size()); // of those that stay
    std::size_t kept = 0;
    std::vector<bool> stays;
    for (PlanCandidate& candidate : all) {
        candidate.module.savedBytes = savedBytes(regions, candidate, bytes);
        for (const CheckpointRegion& region : candidate.regions)
            candidate.module.recompute += cost.of(region.enters, region.cut());
        candidate.module.share = static_cast<double>(candidate.module.recompute) / forward;
        stays.push_back(candidate.module.savedBytes > 0);
        numbers[stays.size() - 1] = kept;
        kept += stays.back() ? 1 : 0;
    }
    std::vector<PlanCandidate> found;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!stays[i])
            continue;
        std::vector<std::size_t> within;
        for (const std::size_t outer : all[i].within)
            if (stays[outer])
                within.push_back(numbers[outer]);
        all[i].within = std::move(within);
        found.push_back(std::move(all[i]));
    }
    return found;
}

std::int64_t forwardCost(const CheckpointRegions& regions, const RecomputeCost& cost)
{
    std::map<std::uint32_t, DeepMoment> outer; // by thread, where the outermost one is left
    std::int64_t sum = 0;
    for (const StepOwners::Window& window : regions.owners().windows) {
        DeepMoment& until = outer[window.thread];
        if (window.enters < until || regions.regionOf(window).holds.empty())
            continue;
        until = window.leaves;
        sum += cost.of(window.enters, window.leaves);
    }
    return sum;
}

} // namespace strata::model
