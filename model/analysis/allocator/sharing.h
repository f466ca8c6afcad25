// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/fragmentation.h"
#include "model/analysis/allocator/refused_request.h"
#include "model/base/answer_fields.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// What the same requests reserve where streams, or pools of graphs, share their memory. By replay.
struct SharedMemory {
    std::int64_t places = 0; ///< streams beside the default one, or pools of graphs
    std::int64_t needed = 0; ///< streams that hold blocks at once; 1 of pools
    std::int64_t recordedBytesPeak = 0; ///< reserved; with endless memory where a request is refused
    std::int64_t reservedBytesPeak = 0; ///< likewise, with `needed` places
    bool exact = false;
    bool servesRequest = false; ///< with tryOnePool(): that request, and all those before

    [[nodiscard]] std::int64_t savedBytes() const { return recordedBytesPeak - reservedBytesPeak; }
    /// At least 2 % of what is reserved.
    [[nodiscard]] bool isWorth() const { return savedBytes() > 0 && savedBytes() >= recordedBytesPeak / 50; }
};

struct Sharing {
    /// Each request of a stream without live blocks goes to the first stream that has none either. None: no
    /// stream can take the place of another, or the replay differs from the recording.
    std::optional<SharedMemory> streams;
    /// Every graph captures into one pool. None: there are no two pools of graphs, or as above.
    std::optional<SharedMemory> pools;
};

/// One replay for each. Any thread. Fails with Cancelled alone.
[[nodiscard]] Result<Sharing> trySharing(
    const DeviceTrace& trace, const ReplayReport& report, const Progress& progress = {});

/// Sharing::pools, for a request that was refused.
[[nodiscard]] Result<std::optional<SharedMemory>> tryOnePool(const DeviceTrace& trace,
    const ReplayReport& report, const RefusedRequest& refused, const Progress& progress = {});

/// Advice on streams and pools, where a replay shows that it saves; `now` has what is free in streams.
[[nodiscard]] std::vector<Sentence> saySharing(
    const DeviceTrace& trace, const Fragmentation& now, const Sharing& sharing);

template <> struct Fields<SharedMemory> {
    static constexpr std::tuple all{
        field("places", Unit::Count, "streams beside the default one, or pools of CUDA graphs",
            &SharedMemory::places),
        field(
            "needed", Unit::Count, "how many of them hold blocks at once; 1 of pools", &SharedMemory::needed),
        field("reserved_bytes_peak", Unit::Bytes, "peak of reserved memory with so many, by replay",
            &SharedMemory::reservedBytesPeak),
        field("saved_bytes", Unit::Bytes, "of the same peak without sharing; negative: sharing reserves more",
            &SharedMemory::savedBytes),
        field("exact", Unit::None, "whether the figures are exact; else an estimate", &SharedMemory::exact),
    };
};

} // namespace strata::model
