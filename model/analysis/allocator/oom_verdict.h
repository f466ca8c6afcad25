// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/allocator_map.h"
#include "model/analysis/allocator/fragmentation.h"
#include "model/analysis/allocator/settings_advice.h"
#include "model/analysis/allocator/sharing.h"
#include "model/analysis/training/steps/certainty.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace strata::model {

/// Why a request was refused, in the order in which equals are named.
enum class OomCause : std::uint8_t {
    TooBig, ///< what is live and the request together exceed the capacity, or leave less than kNearlyFull
    Leak, ///< what steps leave behind: without it the request would fit (OomEvidence)
    MemoryFraction, ///< the driver had room for the request, and PyTorch was not allowed to take it
    Fragmented, ///< free memory within segments, in pieces or in the wrong pool
    PrivatePools, ///< free memory that graphs or MemPools keep for themselves
    PendingFree, ///< freed, but another stream may still use it
    OutsidePyTorch, ///< of the process, beside the allocator: contexts, NCCL, other libraries
    OtherProcess,
    Unknown,
};
[[nodiscard]] std::string_view causeName(OomCause cause); ///< "too_big", ...

/// A request is too big, too, where no fragmentation at all would leave less than this share of what PyTorch
/// may use: no allocator packs so tightly, and the next request of the same step is refused.
inline constexpr double kNearlyFull = 0.05;
/// With less than this share left, fragments are a likely cause only: nothing shows what the step still
/// needs.
inline constexpr double kFewLeft = 0.1;

/// A cause that is not too_big, with the bytes that it withholds.
struct OomCauseBytes {
    OomCause cause = OomCause::Unknown;
    std::int64_t bytes = 0;
    bool wouldHaveServed = false; ///< these bytes alone, beside what the driver had left
};

/// What the device was made of. Disjoint; adds up to the capacity, or without one to reserved and free.
struct OomParts {
    std::int64_t requestedBytes = 0; ///< of blocks in use
    std::int64_t roundingBytes = 0; ///< of them; tails that were not split off too
    std::int64_t pendingFreeBytes = 0; ///< rounded
    std::int64_t freeSmallBytes = 0, freeLargeBytes = 0; ///< of the default pools
    std::int64_t freePrivateBytes = 0;
    std::int64_t deviceFreeBytes = 0;
    std::optional<std::int64_t> outsideBytes; ///< of this process, beside PyTorch
    std::optional<std::int64_t> otherProcessesBytes;
    std::optional<std::int64_t> unknownBytes; ///< outside or other processes; none without a capacity

    /// What PyTorch could have for segments.
    [[nodiscard]] std::int64_t availableBytes() const { return reservedBytes() + deviceFreeBytes; }
    [[nodiscard]] std::int64_t reservedBytes() const
    {
        return requestedBytes + roundingBytes + pendingFreeBytes + freeSmallBytes + freeLargeBytes
            + freePrivateBytes;
    }
};

struct OomVerdict {
    EventIndex event = -1;
    std::int64_t roundedBytes = 0; ///< of the request: the recording has no other size of it
    StackId request; ///< who asked
    OomCause cause = OomCause::Unknown;
    Certainty certainty = Certainty::Recorded; ///< of `cause`; of Unknown it is Unknown
    std::vector<OomCauseBytes> causes; ///< most bytes first
    std::optional<std::int64_t> capacityBytes;
    ReplayReport::CapacitySource capacitySource = ReplayReport::CapacitySource::None;
    OomParts parts;
    bool exact = false; ///< rounded sizes are known
    std::vector<Pin> pins; ///< of the segments with the most free memory, most worth first
    /// What the driver could not give for the request: with so much more it would have been served.
    std::int64_t missingBytes = 0;
    std::int64_t unusableBytes = 0; ///< free on the device, but above a memory fraction
    std::int64_t limitBytes = 0; ///< what PyTorch may use: the capacity, what it could have, or a fraction
    /// Of a memory fraction, where the recording has it; none: the limit is at least what was reserved.
    std::optional<std::int64_t> allowedBytes;
    /// What of the limit is left with the request, if nothing is fragmented; below 0: missing.
    std::int64_t packedSpareBytes = 0;
    /// What PyTorch could have is the memory of no known GPU, and the recording has no capacity: something
    /// else may hold the rest.
    bool capacityDoubtful = false;
    std::int64_t leakedBytes = 0, leakedBytesPerStep = 0; ///< of Leak: allocated, live and per step
    std::int64_t statesToComeBytes = 0; ///< of TooBig: what the optimizer still has to make, with the request
    std::optional<SharedMemory> onePool; ///< of graphs, up to the request
    std::vector<SettingTried>
        advice; ///< each serves the request when this recording is replayed; three at most

    /// What PyTorch could have beyond the peak with these settings; 0: it has to release cached memory first.
    [[nodiscard]] std::int64_t spareBytes(const SettingTried& tried) const;
};

/// Of the out-of-memory that `map` is of, by the figures of the allocator and of the driver. The first that
/// holds:
///
///   memory_fraction  the driver had as much free as the segment for the request takes
///   too_big          live blocks and the request exceed the limit, or leave less than kNearlyFull of it.
///                    `unknown` instead, where the capacity is not recorded and PyTorch could use the memory
///                    of no known GPU: others may hold the rest, unless even the largest GPU is too small
///   another          the one with most bytes that alone would have served the request
///
/// Leaks, states to come and first steps need more than the allocator: see takeLeak(), takeStates() and
/// takeFirstStep(). Replays the trace once for each setting worth trying. Fails with Cancelled alone.
[[nodiscard]] Result<OomVerdict> oomVerdictOf(const DeviceTrace& trace, const AllocatorMap& map,
    const ReplayReport& report, const Progress& progress = {});

/// "fragmented: 40.0 MiB are free within segments, but no piece of them holds 60.0 MiB".
[[nodiscard]] Sentence verdictSentence(const OomVerdict& verdict);
/// Why no setting serves the request: "No allocator setting serves it: ...". Empty where `advice` has one.
[[nodiscard]] Sentence remedySentence(const OomVerdict& verdict);

} // namespace strata::model
