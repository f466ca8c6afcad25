// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/deep/unused_memory.h"

#include "model/analysis/training/deep/live_blocks.h"
#include "model/analysis/training/roles/stack_origins.h"
#include "model/analysis/training/roles/workspace_finder.h"
#include "model/analysis/training/steps/step_ends.h"
#include "model/base/wrap.h"
#include "model/trace/filter/frame_origin.h"
#include "model/trace/frames.h"
#include "model/trace/program/roles.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

constexpr std::int64_t kLeastBytes = 1 << 20; // of a line
constexpr std::int64_t kMuchShare = 20; // one part in so many of the peak
constexpr std::int64_t kSmallPart = 4; // a view has at most one part in so many of its base
constexpr std::int64_t kWorkspacesOfSize = 2; // that have a workspace: the program's thread, and autograd's

using Kind = wire::RoleKind;

/// Stacks, cut where the program calls its outermost module. Frames of Module itself are left out: they lie
/// elsewhere where a module has hooks, as in the deep step.
class ModuleCalls {
public:
    explicit ModuleCalls(const Recording& recording)
        : m_recording(recording)
    {
    }

    /// The frames within that call; all of them where there is none.
    [[nodiscard]] std::vector<FrameId> within(StackId stack) const
    {
        const auto frames = m_recording.stacks.stack(stack);
        const std::size_t end = endOf(frames);
        return without(frames.first(end == 0 ? frames.size() : end));
    }
    [[nodiscard]] std::vector<FrameId> all(StackId stack) const
    {
        return without(m_recording.stacks.stack(stack));
    }
    /// The program's own frame that calls it; none: nothing of the program does.
    [[nodiscard]] FrameId caller(StackId stack) const
    {
        const auto frames = m_recording.stacks.stack(stack);
        const std::size_t end = endOf(frames);
        for (const FrameId frame : frames.subspan(end))
            if (end > 0 && isProgramFrame(m_recording, frame))
                return frame;
        return {};
    }

private:
    [[nodiscard]] bool isOfModule(FrameId frame) const
    {
        const Frame& of = m_recording.stacks.frame(frame);
        return isModuleCall(m_recording.strings[of.file], m_recording.strings[of.function]);
    }
    [[nodiscard]] std::vector<FrameId> without(std::span<const FrameId> frames) const
    {
        std::vector<FrameId> left;
        std::ranges::copy_if(
            frames, std::back_inserter(left), [&](FrameId frame) { return !isOfModule(frame); });
        return left;
    }
    [[nodiscard]] std::size_t endOf(std::span<const FrameId> frames) const
    {
        for (std::size_t i = frames.size(); i > 0; --i) {
            const StringId function = m_recording.stacks.frame(frames[i - 1]).function;
            if (m_recording.strings[function].ends_with("_call_impl") && isOfModule(frames[i - 1]))
                return i;
        }
        return 0;
    }

    const Recording& m_recording;
};

/// A CUDA graph that is replayed uses memory without operators. Graphs have pools of their own.
bool mayReplayGraphs(const Recording& recording)
{
    return std::ranges::any_of(
        recording.pools, [](const Pool& pool) { return pool.owner != 0 || pool.id != 0; });
}

class UnusedSearch {
public:
    UnusedSearch(const DeviceTrace& trace, const DeepStep& step, const StepOwners& owners)
        : m_trace(trace)
        , m_recording(trace.recording())
        , m_step(step)
        , m_owners(owners)
        , m_calls(m_recording)
        , m_first(static_cast<std::uint32_t>(allocsBefore(trace, step.beginEvent)))
        , m_end(static_cast<std::uint32_t>(allocsBefore(trace, step.endEvent)))
        , m_lastStep(step.endEvent)
    {
        for (const EventIndex end : endsOfOptimizer(trace, step.beginEvent, step.endEvent))
            m_lastStep = std::max(m_lastStep, end);
        EventIndex lastOfAny = 0;
        const RoleListings::Rows& listings = RoleListings::of(m_recording, trace.device());
        for (std::size_t i = 0; i < listings.size(); ++i)
            if (isStep(listings[i].kind))
                lastOfAny = std::max(lastOfAny, listings[i].event);
        m_isOfPeak = trace.totals().requestedPeakEvent < m_lastStep || lastOfAny <= m_lastStep;
    }

    [[nodiscard]] std::vector<UnusedLine> find()
    {
        if (!m_isOfPeak || mayReplayGraphs(m_recording))
            return {};
        findUsed();
        findFates();
        findBlocks();
        if (m_blocks.empty())
            return {};
        leaveOut();
        findGraphs();
        return lines();
    }

private:
    struct Block {
        std::uint32_t row = 0;
        UnusedKind kind = UnusedKind::Other;
        std::int64_t usedBytes = 0;
        bool isLeftOut = false;
        bool isLikeParameter = false;
    };
    struct Line {
        UnusedLine line;
        std::int64_t likeParameters = 0; // bytes
        std::set<std::vector<FrameId>> code;
    };

    [[nodiscard]] std::int64_t bytes(std::uint32_t row) const
    {
        return m_trace.blocks().requestedBytes[BlockId::born(row)];
    }
    [[nodiscard]] StackId stack(std::uint32_t row) const
    {
        return m_trace.blocks().stack[BlockId::born(row)];
    }
    [[nodiscard]] EventIndex birth(std::uint32_t row) const
    {
        return m_trace.blocks().birth(BlockId::born(row));
    }

    /// At the peak, and until the last step.
    [[nodiscard]] bool stands(std::uint32_t row) const
    {
        const EventIndex peak = m_trace.totals().requestedPeakEvent, gone = recordedDeath(m_trace, row).event;
        return birth(row) <= peak && gone > peak && gone >= m_lastStep;
    }

    void findUsed()
    {
        m_isUsed.assign(m_first, false);
        const auto use = [&](std::uint32_t block) {
            if (block < m_first)
                m_isUsed[block] = true;
        };
        for (const auto& [block, at] : m_owners.lastUses)
            use(block);
        for (const auto& [block, until] : m_owners.program)
            use(block);
        for (const StepOwners::Hold& hold : m_owners.holds)
            use(hold.block);
        for (const StepOwners::Take& take : m_owners.takes)
            use(take.block);
    }

    /// Whether so many bytes are a small part of a block, and leave much of it.
    [[nodiscard]] bool isSmallPart(std::int64_t used, std::uint32_t row) const
    {
        return used >= 0 && used <= bytes(row) / kSmallPart;
    }

    /// Who keeps the blocks of the step that outlive it, by their stacks and sizes.
    void findFates()
    {
        std::set<std::uint32_t> held;
        for (const StepOwners::Hold& hold : m_owners.holds)
            if (!hold.released)
                held.insert(hold.block);
        for (std::uint32_t row = m_first; row < m_end; ++row)
            if (stack(row).valid() && recordedDeath(m_trace, row).event >= m_lastStep)
                m_fates.insert_or_assign({ m_calls.all(stack(row)), bytes(row) },
                    held.contains(row) ? UnusedKind::Graph : UnusedKind::Other);
    }
    [[nodiscard]] std::optional<UnusedKind> fateOf(std::uint32_t row) const
    {
        if (m_fates.empty())
            return std::nullopt;
        const auto found = m_fates.find({ m_calls.all(stack(row)), bytes(row) });
        return found == m_fates.end() ? std::nullopt : std::optional(found->second);
    }

    void findBlocks()
    {
        std::set<std::size_t> usedStacks;
        std::map<std::uint32_t, std::int64_t> saved; // the most bytes of a tensor; below 0: not told
        for (const StepOwners::Hold& hold : m_owners.holds)
            if (hold.block < m_first) {
                std::int64_t& most = saved[hold.block];
                most = most < 0 || hold.bytes < 0 ? -1 : std::max(most, hold.bytes);
            }
        for (std::uint32_t row = 0; row < m_first; ++row) {
            if (!stack(row).valid() || !stands(row))
                continue;
            if (!m_isUsed[row]) {
                m_blocks.push_back({ row, fateOf(row).value_or(UnusedKind::Other) });
                continue;
            }
            usedStacks.insert(stack(row).index());
            const auto reached = m_owners.reached.find(row);
            const auto most = saved.find(row);
            if (reached == m_owners.reached.end() || reached->second < 0
                || (most != saved.end() && most->second < 0))
                continue;
            const std::int64_t used = std::max(reached->second, most == saved.end() ? 0 : most->second);
            if (isSmallPart(used, row))
                m_blocks.push_back({ row, UnusedKind::View, used });
        }
        for (Block& block : m_blocks)
            block.isLeftOut = block.kind != UnusedKind::View && usedStacks.contains(stack(block.row).index());
    }

    /// What libraries and optimizers have; what files and the sizes of parameters show, is in.
    void leaveOut()
    {
        const StackOrigins origins(m_recording);
        std::map<std::pair<std::int64_t, StreamIndex>, std::int64_t> ofSize;
        for (const Block& block : m_blocks)
            ++ofSize[placeOf(block)];
        for (Block& block : m_blocks) {
            const StackOrigin& origin = origins.of(stack(block.row));
            const bool isMade = origin.has(StackOrigin::Load) || origin.has(StackOrigin::Setup)
                || origin.has(StackOrigin::Init) || origin.has(StackOrigin::ReadsTensors);
            block.isLeftOut = block.isLeftOut || origin.has(StackOrigin::Workspace)
                || origin.has(StackOrigin::Communication)
                || (!isMade && hasLibrarySize(bytes(block.row))
                    && ofSize.at(placeOf(block)) <= kWorkspacesOfSize);
            if (block.kind != UnusedKind::View && origin.has(StackOrigin::ReadsTensors))
                block.kind = UnusedKind::Loaded;
        }
        takeListings();
    }
    [[nodiscard]] std::pair<std::int64_t, StreamIndex> placeOf(const Block& block) const
    {
        return { bytes(block.row), m_trace.blocks().stream[BlockId::born(block.row)] };
    }

    void takeListings()
    {
        const RoleListings::Rows& listings = RoleListings::of(m_recording, m_trace.device());
        std::set<std::uint32_t> stepping;
        for (std::size_t i = 0; i < listings.size(); ++i)
            if (isStep(listings[i].kind) && listings[i].event >= m_step.endEvent)
                stepping.insert(listings[i].optimizer);
        const LiveBlocks live(m_trace, m_step.beginEvent);
        std::set<std::uint32_t> owned;
        std::set<std::int64_t> sizes; // of parameters in use
        std::set<std::size_t> made; // stacks that make parameters
        for (std::size_t i = 0; i < listings.size(); ++i) {
            const RoleListing& listing = listings[i];
            const std::uint32_t block
                = isStep(listing.kind) ? LiveBlocks::kNoBlock : live.at(listing.address);
            if (block == LiveBlocks::kNoBlock || birth(block) >= listing.event)
                continue;
            if (stepping.contains(listing.optimizer) && listing.kind != Kind::Buffer
                && listing.kind != Kind::Input)
                owned.insert(block);
            if (listing.kind != Kind::Parameter)
                continue;
            made.insert(stack(block).index());
            if (m_isUsed[block])
                sizes.insert(bytes(block));
        }
        for (Block& block : m_blocks) {
            block.isLikeParameter = sizes.contains(bytes(block.row));
            if (block.kind == UnusedKind::Loaded && block.isLikeParameter
                && !made.contains(stack(block.row).index()))
                block.isLeftOut = false;
            block.isLeftOut = block.isLeftOut || owned.contains(block.row);
        }
    }

    /// Code whose tensors the step saves for backward.
    void findGraphs()
    {
        for (const StepOwners::Hold& hold : m_owners.holds)
            if (hold.block != StepOwners::kNoBlock && hold.block >= m_first)
                m_saving.insert(m_calls.within(stack(hold.block)));
    }
    [[nodiscard]] bool isOfGraph(const Block& block) const
    {
        if (block.kind == UnusedKind::Graph)
            return true;
        return block.kind == UnusedKind::Other && !fateOf(block.row)
            && m_trace.events().phaseOf(static_cast<std::size_t>(birth(block.row))) == EventPhase::Grad
            && m_saving.contains(m_calls.within(stack(block.row)));
    }

    [[nodiscard]] std::vector<UnusedLine> lines()
    {
        std::map<std::pair<std::string, UnusedKind>, Line> all;
        for (Block& block : m_blocks) {
            if (block.isLeftOut)
                continue;
            if (isOfGraph(block))
                block.kind = UnusedKind::Graph;
            const FrameId asks = block.kind == UnusedKind::Graph && m_calls.caller(stack(block.row)).valid()
                ? m_calls.caller(stack(block.row))
                : userFrame(m_recording, stack(block.row));
            if (!asks.valid())
                continue;
            const std::string label = frameLabel(m_recording, asks);
            Line& line = all[{ label, block.kind }];
            line.line.line = label;
            line.line.kind = block.kind;
            line.line.staysToEnd = line.line.staysToEnd && recordedDeath(m_trace, block.row) == kNeverInStep;
            ++line.line.blocks;
            line.line.bytes = wrapAdd(line.line.bytes, bytes(block.row));
            line.line.usedBytes = wrapAdd(line.line.usedBytes, block.usedBytes);
            line.likeParameters = wrapAdd(line.likeParameters, block.isLikeParameter ? bytes(block.row) : 0);
            if (block.kind == UnusedKind::Graph)
                line.code.insert(m_calls.within(stack(block.row)));
        }
        std::vector<UnusedLine> lines;
        for (auto& [key, line] : all) {
            if (line.line.kind == UnusedKind::Graph && line.code.size() < 2) // an output may be kept alone
                line.line.kind = UnusedKind::Other;
            if (line.line.kind == UnusedKind::Other && line.likeParameters >= line.line.bytes / 4 * 3)
                line.line.kind = UnusedKind::LikeParameters;
            if (line.line.unusedBytes() >= kLeastBytes)
                lines.push_back(std::move(line.line));
        }
        std::ranges::stable_sort(lines, std::greater(), &UnusedLine::unusedBytes);
        return lines;
    }

    const DeviceTrace& m_trace;
    const Recording& m_recording;
    const DeepStep& m_step;
    const StepOwners& m_owners;
    ModuleCalls m_calls;
    std::uint32_t m_first, m_end; // rows of blocks that are born in the step
    EventIndex m_lastStep; // so many events come before its end
    bool m_isOfPeak = false; // no other training has the peak
    std::vector<bool> m_isUsed; // by row, of blocks before the step
    std::map<std::pair<std::vector<FrameId>, std::int64_t>, UnusedKind> m_fates; // of the step's own that stay
    std::vector<Block> m_blocks;
    std::set<std::vector<FrameId>> m_saving;
};

} // namespace

std::string_view unusedKindWord(UnusedKind kind)
{
    constexpr std::array<std::string_view, 5> kWords{ "loaded", "like_parameters", "graph", "view", "other" };
    return kWords[static_cast<std::size_t>(kind)];
}

Sentence sayUnused(const UnusedLine& line)
{
    switch (line.kind) {
    case UnusedKind::Loaded:
        return say("loaded from a file: load it to the CPU, or drop it after use");
    case UnusedKind::LikeParameters:
        return say("as large as parameters in use: a copy or an old model that no other step uses can go to "
                   "the CPU");
    case UnusedKind::Graph:
        return say("probably an output keeps its graph: keep output.detach()");
    case UnusedKind::View:
        return say("the step uses at most %1 of it: if other steps use no more, keep a .clone() of that part",
            asBytes(line.usedBytes));
    case UnusedKind::Other:
        break;
    }
    return say("keep it on the CPU until it is used, or drop it");
}

std::vector<UnusedLine> unusedMemory(const DeviceTrace& trace, const DeepStep& step, const StepOwners& owners)
{
    return UnusedSearch(trace, step, owners).find();
}

std::optional<std::vector<UnusedLine>> findUnusedMemory(const DeviceTrace& trace)
{
    const DeepStep* const step = deepStepOf(trace);
    if (step == nullptr || mayReplayGraphs(trace.recording()))
        return std::nullopt;
    const auto owners = stepOwners(trace, *step);
    return owners ? std::optional(unusedMemory(trace, *step, *owners)) : std::nullopt;
}

bool isMuch(const std::vector<UnusedLine>& lines, const DeviceTrace& trace)
{
    std::int64_t unused = 0;
    for (const UnusedLine& line : lines)
        unused = wrapAdd(unused, line.unusedBytes());
    return unused > 0 && unused >= trace.totals().requestedBytesPeak / kMuchShare;
}

} // namespace strata::model
