// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace strata::wire {

// What has a code in the stream. Codes never change; the model uses these very types, so that a name is
// spelled once for who records, writes and reads.

/// What an event of the allocator says.
enum class EventAction : std::uint8_t {
    Alloc = 0,
    FreeRequested = 1,
    FreeCompleted = 2,
    SegmentAlloc = 3,
    SegmentFree = 4,
    SegmentMap = 5,
    SegmentUnmap = 6,
    Snapshot = 7,
    Oom = 8,
    UserDefined = 9,
    Annotate = 10,
    Other = 11, ///< another one: kept, its name in SparseKind::ActionName
};
inline constexpr std::size_t kActionCount = 12;

/// What the thread of an event was at, as LibTorch's autograd has it: whether it evaluates a backward graph,
/// and whether what it does is recorded for one.
enum class EventPhase : std::uint8_t {
    Unknown = 0,
    Grad = 1, ///< outside of backward, gradients on: a forward
    NoGrad = 2, ///< outside of backward, gradients off: an optimizer, or under no_grad()
    Inference = 3, ///< under inference_mode()
    Backward = 4, ///< inside of backward, gradients off
    BackwardGrad = 5, ///< inside of a backward that frees its graph, gradients on: a recomputed forward
    BackwardGradKeep = 6, ///< inside of a backward that keeps its graph, gradients on: that, or create_graph
};
inline constexpr std::size_t kEventPhases = 7;

/// What a tensor is to the program, as a listing of its tensors says, or that an optimizer did its step.
enum class RoleKind : std::uint8_t {
    Parameter = 0,
    Buffer = 1,
    Gradient = 2,
    OptimizerState = 3,
    Input = 4,
    Stepped = 5, ///< no tensor: the step of an optimizer ended, and what was listed of it stands
    SteppedUnlisted = 6, ///< the same of an optimizer whose tensors are not listed
};
inline constexpr std::size_t kRoleKinds = 7;

/// No tensor, but where the step of an optimizer ended.
[[nodiscard]] constexpr bool isStep(RoleKind kind)
{
    return kind == RoleKind::Stepped || kind == RoleKind::SteppedUnlisted;
}

/// What few events have: a text by number.
enum class SparseKind : std::uint8_t { CompileContext = 0, UserMetadata = 1, ActionName = 2, Extras = 3 };
inline constexpr std::size_t kSparseKinds = 4;

/// A block of a segment.
enum class BlockState : std::uint8_t {
    Allocated = 0,
    PendingFree = 1, ///< waits for another stream
    Inactive = 2,
};
inline constexpr std::size_t kBlockStates = 3;

/// Which half of a pool of PyTorch's a segment belongs to.
enum class PoolKind : std::uint8_t { Small = 0, Large = 1, Unknown = 2 };
inline constexpr std::size_t kPoolKinds = 3;

/// What an annotation says of its name. A new one is a line here, one in kAnnotationRoles and one in
/// FORMAT.md; readers that do not know it pass over its rows.
enum class AnnotationKind : std::uint8_t {
    Start = 0, ///< a range of that name begins
    End = 1, ///< the innermost one of that name ends
    Mark = 2, ///< a moment
};

/// What becomes of an annotation where time is drawn.
enum class AnnotationRole : std::uint8_t { Begins, Ends, Moment };
inline constexpr std::array kAnnotationRoles{
    AnnotationRole::Begins, // Start
    AnnotationRole::Ends, // End
    AnnotationRole::Moment, // Mark
};
inline constexpr std::size_t kAnnotationKinds = kAnnotationRoles.size();

[[nodiscard]] constexpr AnnotationRole roleOf(AnnotationKind kind)
{
    return kAnnotationRoles[static_cast<std::size_t>(kind)];
}

/// What a program asked of the allocator besides memory, which no event tells. The value of a row, a text, is
/// what each says of it; a pool is PyTorch's pool id, "0,3". Where PyTorch does not have such a call, there
/// are no rows of it.
enum class AllocatorCallKind : std::uint8_t {
    EmptyCache = 0, ///< empty_cache(), whether or not it released anything; the pool, nothing for the default
    Settings = 1, ///< the settings were changed: the string that was given
    SettingsRefused = 2, ///< likewise, and PyTorch threw: what came before its mistake may hold
    MemoryFraction = 3, ///< set_per_process_memory_fraction(): the fraction, in decimals
    PoolBegin = 4, ///< what follows may be allocated in a private pool (beginAllocateToPool)
    PoolEnd = 5, ///< no longer (endAllocateToPool)
    PoolRelease = 6, ///< one user of a private pool less (releasePool)
    PoolCreate = 7, ///< one more, or the first (createOrIncrefPool, ensureExistsAndIncrefPool)
    PoolUseOnOom = 8, ///< a pool serves others where memory runs out (setUseOnOOM)
    PoolNoSplit = 9, ///< blocks of a pool are not split (setNoSplit)
    CaptureBegin = 10, ///< of a graph (markCaptureBegin); before 2.13 a PoolBegin alone
    CaptureEnd = 11,
};
inline constexpr std::size_t kAllocatorCallKinds = 12;

} // namespace strata::wire
