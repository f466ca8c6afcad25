// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/python/root_forwards.h"

#include "model/analysis/training/steps/python/python_paths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace strata::model {

namespace {

constexpr std::uint32_t kNoSite = ~std::uint32_t{ 0 };
constexpr std::int64_t kNoLine = -1;

/// What a stack says of a root module. `line` is of the function in which the stacks of a site part.
struct RootStack {
    std::uint32_t site = kNoSite;
    std::int64_t line = kNoLine;
};

/// Finds the sites among the stacks of a trace.
class RootStacks {
public:
    RootStacks(const DeviceTrace& trace, const PythonPaths& paths)
        : m_recording(trace.recording())
        , m_paths(paths)
        , m_stacks(m_recording.stacks.stackCount())
        , m_names(m_recording.strings.size(), Name::NotLooked)
    {
        std::vector<bool> seen(m_stacks.size());
        for (const StackId stack : trace.blocks().stack.born)
            if (stack.valid() && stack.index() < seen.size())
                seen[stack.index()] = true;
        findSites(seen);
        for (std::uint32_t i = 0; i < m_stacks.size(); ++i)
            if (m_stacks[i].site != kNoSite)
                m_stacks[i].line = lineOf({ i });
    }

    [[nodiscard]] RootStack of(StackId stack) const
    {
        return stack.valid() && stack.index() < m_stacks.size() ? m_stacks[stack.index()] : RootStack{};
    }
    [[nodiscard]] bool any() const { return !m_sites.empty(); }
    /// Frames of the program that call the root module, outermost first.
    [[nodiscard]] std::span<const FrameId> callersOf(std::uint32_t site) const
    {
        return m_paths.of(m_sites[site].example).first(m_sites[site].callers);
    }

private:
    struct Site {
        StackId example;
        std::size_t callers = 0; // frames
        std::size_t common = 0; // frames that all its stacks have
        std::size_t caller = 0; // row of m_sitesOf
        bool isOneFunction = true; // in which they part, and it is not called by a Sequential
        std::optional<FrameId> parts; // the first frame behind the common ones
    };

    enum class Name : std::uint8_t { NotLooked, Call, Forward, Other };

    /// A call of a module, or a forward that is no custom function of autograd and no compiled function.
    [[nodiscard]] bool isRoot(std::span<const FrameId> path, std::size_t i)
    {
        const Frame& frame = m_recording.stacks.frame(path[i]);
        if (!frame.function.valid())
            return false;
        Name& name = m_names[frame.function.index()];
        if (name == Name::NotLooked) {
            const std::string_view text = m_recording.strings[frame.function];
            name = text == "_wrapped_call_impl" || text == "_call_impl" ? Name::Call
                : text == "forward"                                       ? Name::Forward
                                                                          : Name::Other;
        }
        if (name != Name::Forward || i == 0)
            return name != Name::Other;
        const std::string_view file
            = frame.file.valid() ? m_recording.strings[frame.file] : std::string_view();
        if (file.ends_with("_functorch/aot_autograd.py"))
            return false;
        const Frame& caller = m_recording.stacks.frame(path[i - 1]);
        return !caller.function.valid() || m_recording.strings[caller.function] != "apply";
    }

    void findSites(const std::vector<bool>& seen)
    {
        std::map<std::vector<std::uint32_t>, std::uint32_t> sites;
        std::map<std::vector<std::uint32_t>, std::size_t> callers;
        std::vector<std::uint32_t> key;
        for (std::uint32_t i = 0; i < seen.size(); ++i) {
            if (!seen[i])
                continue;
            const auto path = m_paths.of({ i });
            std::size_t root = 0;
            while (root < path.size() && !isRoot(path, root))
                ++root;
            if (root == path.size())
                continue;
            key.clear();
            for (const FrameId frame : path.first(root))
                key.push_back(frame.value);
            const auto [found, isNew] = sites.emplace(key, static_cast<std::uint32_t>(m_sites.size()));
            m_stacks[i].site = found->second;
            if (isNew) {
                m_sites.push_back({ .example = { i }, .callers = key.size(), .common = path.size() });
                if (!key.empty()) { // the function that calls, without its line
                    const Frame& frame = m_recording.stacks.frame({ key.back() });
                    key.back() = frame.file.value;
                    key.push_back(frame.function.value);
                }
                const auto caller = callers.emplace(key, m_sitesOf.size());
                if (caller.second)
                    m_sitesOf.push_back(0);
                m_sites.back().caller = caller.first->second;
                ++m_sitesOf[caller.first->second];
            }
            Site& site = m_sites[found->second];
            const auto first = m_paths.of(site.example);
            std::size_t common = 0;
            while (common < std::min(site.common, path.size()) && first[common] == path[common])
                ++common;
            site.common = common;
        }
    }

    /// -1 where stacks part between functions, as in a Sequential: their lines say nothing of an order.
    std::int64_t lineOf(StackId stack)
    {
        Site& site = m_sites[m_stacks[stack.index()].site];
        const auto path = m_paths.of(stack);
        if (path.size() <= site.common) { // all are of one line, and part within what it calls
            site.isOneFunction = false;
            return kNoLine;
        }
        const Frame& frame = m_recording.stacks.frame(path[site.common]);
        if (!site.parts) {
            site.parts = path[site.common];
            for (const FrameId each : path.subspan(site.callers, site.common - site.callers))
                if (m_recording.strings[m_recording.stacks.frame(each).file].ends_with("container.py"))
                    site.isOneFunction = false; // layers come again there
        }
        else if (!isSameFunction(frame, m_recording.stacks.frame(*site.parts)))
            site.isOneFunction = false;
        return frame.line;
    }

public:
    [[nodiscard]] bool hasLines(std::uint32_t site) const { return m_sites[site].isOneFunction; }
    /// Whether two sites are other lines of one function.
    [[nodiscard]] bool isSameCaller(std::uint32_t one, std::uint32_t two) const
    {
        return one != two && m_sites[one].caller == m_sites[two].caller;
    }
    [[nodiscard]] bool hasNeighbours(std::uint32_t site) const
    {
        return m_sitesOf[m_sites[site].caller] > 1;
    }

private:
    const Recording& m_recording;
    const PythonPaths& m_paths;
    std::vector<RootStack> m_stacks; // by StackId
    std::vector<Name> m_names; // by StringId
    std::vector<Site> m_sites;
    std::vector<std::size_t> m_sitesOf; // how many, by the function that calls
};

/// Takes allocs in order and makes calls of them.
class CallFinder {
public:
    CallFinder(const DeviceTrace& trace, const PythonPaths& paths, const RootStacks& roots)
        : m_trace(trace)
        , m_blocks(trace.blocks())
        , m_paths(paths)
        , m_roots(roots)
    {
    }

    RootForwards find()
    {
        for (std::size_t alloc = 0; alloc < m_blocks.bornCount(); ++alloc) {
            const StackId stack = m_blocks.stack.born[alloc];
            const auto path = m_paths.of(stack);
            if (path.empty())
                continue;
            const std::uint32_t site = m_roots.of(stack).site;
            if (!m_run.empty()) {
                if (site == m_site) {
                    m_run.push_back(alloc);
                    continue;
                }
                if (!isOfProgram(path.front()))
                    continue; // another thread does not end a call
                close();
            }
            if (site != kNoSite) {
                m_site = site;
                m_run.push_back(alloc);
            }
        }
        close();
        joinChains();
        for (std::size_t i = 0; i < m_found.calls.size(); ++i) {
            findBegin(i);
            m_found.areShown = m_found.areShown && !m_found.calls[i].isGuess;
        }
        return std::move(m_found);
    }

private:
    /// The frame with which a program's own thread begins: the same file and function as that of a call.
    [[nodiscard]] bool isOfProgram(FrameId outermost) const
    {
        const StackTable& stacks = m_trace.recording().stacks;
        const FrameId own = m_paths.of(m_blocks.stack.born[m_run.front()]).front();
        return isSameFunction(stacks.frame(outermost), stacks.frame(own));
    }

    [[nodiscard]] std::int64_t lineAt(std::size_t i) const
    {
        return m_roots.of(m_blocks.stack.born[m_run[i]]).line;
    }

    /// Allocs of one site with nothing of the program between them: one call, or several.
    void close()
    {
        if (m_run.empty())
            return;
        const std::vector<bool> alone = beginsAlone();
        std::vector<std::size_t> begins{ 0 };
        if (m_roots.hasLines(m_site))
            begins = beginsByLines();
        if (begins.size() == 1)
            begins = beginsByLives(alone);
        const bool guess = !std::ranges::all_of(begins, [&](std::size_t i) { return alone[i]; })
            && !holdsLoop(begins[0], begins[1]);
        for (std::size_t i = 0; i < begins.size(); ++i) {
            const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : m_run.size();
            m_found.calls.push_back(
                { m_site, m_run[begins[i]], m_run[begins[i]], m_run[end - 1], guess });
        }
        m_run.clear();
    }

    /// Whether one stack allocates again and again between two places: what recurs holds a loop over layers, so it
    /// is no layer itself.
    [[nodiscard]] bool holdsLoop(std::size_t from, std::size_t to) const
    {
        constexpr int kFewestLayers = 3;
        std::map<StackId, int> counts;
        for (std::size_t i = from; i < to; ++i)
            if (++counts[m_blocks.stack.born[m_run[i]]] >= kFewestLayers)
                return true;
        return false;
    }

    /// Where the first line comes again, if between any two of these places the same lines follow each other.
    [[nodiscard]] std::vector<std::size_t> beginsByLines() const
    {
        std::vector<std::size_t> begins{ 0 };
        for (std::size_t i = 1; i < m_run.size(); ++i)
            if (lineAt(i) == lineAt(0) && lineAt(i - 1) != lineAt(0))
                begins.push_back(i);
        if (begins.size() < 2)
            return { 0 };
        const auto linesOf = [&](std::size_t which) {
            std::vector<std::int64_t> lines;
            const std::size_t end = which + 1 < begins.size() ? begins[which + 1] : m_run.size();
            for (std::size_t i = begins[which]; i < end; ++i)
                if (lines.empty() || lines.back() != lineAt(i))
                    lines.push_back(lineAt(i));
            return lines;
        };
        // The first call makes some things that the others find made. The last one may have been cut; more
        // than the others have is the end of a loop within one call.
        const bool many = begins.size() > 2;
        const std::vector<std::int64_t> usual = linesOf(many ? 1 : 0);
        for (std::size_t which = many ? 2 : 1; which < begins.size(); ++which) {
            const std::vector<std::int64_t> lines = linesOf(which);
            const bool isLast = which + 1 == begins.size();
            if (isLast ? lines.size() > usual.size() || !std::equal(lines.begin(), lines.end(), usual.begin())
                       : lines != usual)
                return { 0 };
        }
        return passesOn(begins) ? std::vector<std::size_t>{ 0 } : begins;
    }

    /// Whether what one part makes goes in the middle of the next part, mostly: a loop over layers replaces its
    /// tensor there. What a loop around calls keeps goes when the next call has returned, or later.
    [[nodiscard]] bool passesOn(const std::vector<std::size_t>& begins) const
    {
        std::size_t parts = 0;
        for (std::size_t which = 1; which < begins.size(); ++which) {
            const std::size_t last
                = (which + 1 < begins.size() ? begins[which + 1] : m_run.size()) - 1; // of this part
            for (std::size_t i = begins[which - 1]; i < begins[which]; ++i) {
                const EventIndex death = m_blocks.death(BlockId::born(m_run[i]));
                if (death > eventAt(begins[which]) && death < eventAt(last)) {
                    ++parts;
                    break;
                }
            }
        }
        return 2 * parts > begins.size() - 1;
    }

    /// Where the first request comes again and nothing that was made before is there.
    [[nodiscard]] std::vector<std::size_t> beginsByLives(const std::vector<bool>& alone) const
    {
        std::vector<std::size_t> begins{ 0 };
        const auto isFirst = [&](std::size_t i) {
            return m_blocks.stack.born[m_run[i]] == m_blocks.stack.born[m_run[0]]
                && m_blocks.requestedBytes.born[m_run[i]] == m_blocks.requestedBytes.born[m_run[0]];
        };
        for (std::size_t i = 1; i < m_run.size(); ++i)
            if (isFirst(i) && alone[i])
                begins.push_back(i);
        return begins;
    }

    /// For each alloc of the run whether nothing that the run made before is there.
    [[nodiscard]] std::vector<bool> beginsAlone() const
    {
        std::vector<bool> alone;
        EventIndex lastDeath = -1;
        for (std::size_t i = 0; i < m_run.size(); ++i) {
            alone.push_back(lastDeath <= eventAt(i));
            lastDeath = std::max(lastDeath, m_blocks.death(BlockId::born(m_run[i])));
        }
        return alone;
    }

    /// Layers that a program calls one by one, behind an embedding and before a head, look like calls of a
    /// model: each works on what the one before made. With what the same function calls next to them they are
    /// one forward.
    void joinChains()
    {
        std::vector<RootForward>& calls = m_found.calls;
        std::vector<RootForward> joined;
        for (std::size_t i = 0; i < calls.size();) {
            std::size_t end = i + 1;
            while (calls[i].isGuess && end < calls.size() && calls[end].isGuess && calls[end].site == calls[i].site)
                ++end;
            RootForward call = calls[i];
            const bool isChain = call.isGuess && m_roots.hasNeighbours(call.site);
            if (isChain) {
                call.last = calls[end - 1].last;
                call.isGuess = false;
                while (!joined.empty() && joined.back().last + 1 == call.first
                    && m_roots.isSameCaller(joined.back().site, call.site)) {
                    call.first = call.begin = joined.back().first;
                    joined.pop_back();
                }
                while (end < calls.size() && call.last + 1 == calls[end].first
                    && m_roots.isSameCaller(calls[end].site, call.site))
                    call.last = calls[end++].last;
                joined.push_back(call);
            } else {
                joined.insert(joined.end(), calls.begin() + static_cast<std::ptrdiff_t>(i),
                    calls.begin() + static_cast<std::ptrdiff_t>(end));
            }
            i = end;
        }
        calls = std::move(joined);
    }

    [[nodiscard]] EventIndex eventAt(std::size_t i) const
    {
        return static_cast<EventIndex>(m_blocks.alloc[m_run[i]].value);
    }
    /// The batch comes before the line that calls; what comes behind that line is of the call before.
    void findBegin(std::size_t which)
    {
        RootForward& call = m_found.calls[which];
        if (which == 0)
            return; // what sets the program up lies there, too
        const std::size_t from = m_found.calls[which - 1].last + 1;
        const auto callers = m_roots.callersOf(call.site);
        for (std::size_t alloc = call.first; alloc-- > from;) {
            const auto path = m_paths.of(m_blocks.stack.born[alloc]);
            if (path.empty())
                continue;
            if (!isBefore(path, callers))
                return;
            call.begin = alloc;
        }
    }

    [[nodiscard]] bool isBefore(std::span<const FrameId> path, std::span<const FrameId> callers) const
    {
        const StackTable& stacks = m_trace.recording().stacks;
        for (std::size_t i = 0; i < std::min(path.size(), callers.size()); ++i)
            if (path[i] != callers[i]) {
                const Frame &here = stacks.frame(path[i]), &there = stacks.frame(callers[i]);
                return isSameFunction(here, there) && here.line < there.line;
            }
        return false;
    }

    const DeviceTrace& m_trace;
    const BlockColumns& m_blocks;
    const PythonPaths& m_paths;
    const RootStacks& m_roots;
    std::uint32_t m_site = kNoSite;
    std::vector<std::size_t> m_run; // allocs
    RootForwards m_found;
};

} // namespace

RootForwards rootForwards(const DeviceTrace& trace)
{
    const PythonPaths paths(trace.recording());
    const RootStacks roots(trace, paths);
    if (!roots.any())
        return {};
    return CallFinder(trace, paths, roots).find();
}

} // namespace strata::model
