// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/workspace_finder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace strata::model {

namespace {

/// What cuBLAS asks for: 4096 KiB x 2 + 16 KiB x 8, 4096 KiB x 8 from sm_90 on; cuBLASLt, 1 MiB; and
/// hipBLASLt, 76 MiB (aten/src/ATen/cuda/CublasHandlePool.cpp, parseChosenWorkspaceSize,
/// parseCUDABlasLtWorkspaceSize). Once a handle and stream, and for ever, or for one call.
constexpr std::int64_t kLtWorkspace = 1'048'576; // many tensors have this size, too
constexpr std::array<std::int64_t, 4> kSizes{ 8'519'680, 33'554'432, 79'691'776, kLtWorkspace };

/// Where no stack tells who asked: of what comes and goes with nothing asked for in between, in a forward or
/// backward, most of this size or more are workspaces (98 % of their bytes in 40 trainings).
constexpr std::int64_t kLargeScratch = std::int64_t{ 1 } << 20;

/// Of a size and stream: the program's thread has a handle, and autograd's.
constexpr std::int64_t kHandles = 2;

using Actor = StackActors::Actor;

/// Where matrices are multiplied; what an optimizer works with in place looks like scratch.
bool computes(const BlockBirth& birth)
{
    return birth.phase == Phase::Forward || birth.phase == Phase::Recompute || birth.phase == Phase::Backward;
}

} // namespace

bool hasLibrarySize(std::int64_t bytes)
{
    return std::ranges::find(kSizes, bytes) != kSizes.end();
}

WorkspaceFinder::WorkspaceFinder(const DeviceTrace& trace, BlockBirths& births, const StackActors& actors,
    const ParameterSizes& parameters)
    : m_trace(trace)
    , m_births(births)
    , m_actors(actors)
    , m_parameters(parameters)
{
    std::vector<BlockBirth> sized;
    for (const BlockId block : trace.blocks().all())
        if (hasLibrarySize(trace.blocks().requestedBytes[block]))
            sized.push_back(births.of(block));
    // Outputs that a loop keeps may have the size of a workspace, too: those are many.
    for (const BlockBirth& birth : sized)
        if (birth.event >= 0 && staysInCompute(birth))
            ++m_staying[placeOf(birth)];
    for (const BlockBirth& birth : sized) {
        Uses& uses = m_uses[birth.bytes];
        ++uses.blocks;
        if (birth.event < 0 || !isUsedAsWorkspace(birth))
            continue;
        ++uses.workspaces;
        uses.byProduct = uses.byProduct || (birth.origin->has(StackOrigin::Product) && isBesideOutput(birth));
    }
}

std::optional<CategoryRule> WorkspaceFinder::ruleOf(const BlockBirth& birth) const
{
    if (hasLibrarySize(birth.bytes) && isUsedAsWorkspace(birth))
        return isOfProduct(birth) ? CategoryRule::WorkspaceOfProduct : CategoryRule::WorkspaceSize;
    if (birth.origin->has(StackOrigin::Convolution) && isScratch(birth))
        return CategoryRule::ConvolutionScratch;
    if (birth.bytes >= kLargeScratch && !hasStack(birth) && computes(birth) && isScratch(birth)
        && !m_parameters.contains(birth.bytes))
        return CategoryRule::LargeScratch;
    return std::nullopt;
}

bool WorkspaceFinder::isUsedAsWorkspace(const BlockBirth& birth) const
{
    return (isScratch(birth) && (birth.bytes != kLtWorkspace || hasStack(birth) || computes(birth)))
        || (staysInCompute(birth) && m_staying.at(placeOf(birth)) <= kHandles);
}

/// Beside the output that the same call allocated just before, and freed as the next event or never. Few
/// tensors have a size that is no power of two, and here no block of it is used in another way. A power of two
/// needs a call that multiplies matrices; on threads of the engine one elsewhere.
bool WorkspaceFinder::isOfProduct(const BlockBirth& birth) const
{
    const Uses& uses = m_uses.at(birth.bytes);
    if (uses.blocks != uses.workspaces || !isBesideOutput(birth))
        return false;
    if (birth.origin->has(StackOrigin::Product)
        || !std::has_single_bit(static_cast<std::uint64_t>(birth.bytes)))
        return true;
    return uses.byProduct && m_actors.of(birth.event) == Actor::Engine;
}

bool WorkspaceFinder::isBesideOutput(const BlockBirth& birth) const
{
    if (!isOfCallBefore(birth) || m_actors.of(birth.event) == Actor::Optimizer)
        return false;
    const BlockColumns& blocks = m_trace.blocks();
    const BlockId output = BlockId::born(birth.block.row() - 1);
    const auto& stacks = m_trace.events().stack;
    const bool sameCall
        = hasStack(birth) || m_actors.isOneRun(Actor::Engine, blocks.birth(output), birth.event);
    const bool passes = birth.end == birth.event + 1 && blocks.death(output) > birth.end
        && stacks[static_cast<std::size_t>(birth.end)] == stacks[static_cast<std::size_t>(birth.event)];
    return sameCall && blocks.requestedBytes[output] != birth.bytes && (passes || birth.end == PhaseMap::kNever);
}

bool WorkspaceFinder::staysInCompute(const BlockBirth& birth) const
{
    const bool inCompute
        = birth.phase == Phase::Forward || birth.phase == Phase::NoGrad || birth.span->isBackward();
    return inCompute && birth.end == PhaseMap::kNever && (m_births.stepEndsAfter(birth) || outlivesItsCall(birth))
        && !m_parameters.contains(birth.bytes);
}

/// Without steps: what the same call made before it is gone, and no request was refused.
bool WorkspaceFinder::outlivesItsCall(const BlockBirth& birth) const
{
    return birth.bytes != kLtWorkspace && hasStack(birth) && m_trace.outOfMemories().empty()
        && isOfCallBefore(birth)
        && m_trace.blocks().death(BlockId::born(birth.block.row() - 1)) != PhaseMap::kNever;
}

/// Nothing was asked for while it lived, but something in the same call before it: its output.
bool WorkspaceFinder::isScratch(const BlockBirth& birth) const
{
    const BlockColumns& blocks = m_trace.blocks();
    const std::size_t next = birth.block.row() + 1;
    return isOfCallBefore(birth)
        && birth.end < (next < blocks.bornCount() ? blocks.birth(BlockId::born(next)) : PhaseMap::kNever);
}

/// The block before it has its stack: where none was recorded, too.
bool WorkspaceFinder::isOfCallBefore(const BlockBirth& birth) const
{
    const auto& stacks = m_trace.blocks().stack.born;
    const std::size_t row = birth.block.row();
    return row > 0 && stacks[row - 1] == stacks[row];
}

WorkspaceFinder::Place WorkspaceFinder::placeOf(const BlockBirth& birth) const
{
    return { birth.bytes, m_trace.blocks().stream[birth.block] };
}

bool WorkspaceFinder::hasStack(const BlockBirth& birth) const
{
    return m_trace.blocks().stack[birth.block].valid();
}

} // namespace strata::model
