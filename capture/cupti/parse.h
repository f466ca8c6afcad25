// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/cupti/library.h"

#include <cstdint>
#include <span>

namespace strata::cupti {

/// Takes what a buffer holds, in its order. Of a record only what every version of CUPTI since 12.0 has is
/// filled in.
class RecordSink {
public:
    virtual ~RecordSink() = default;

    virtual void kernel(const KernelRecord& record) = 0;
    virtual void copy(const MemcpyRecord& record) = 0;
    virtual void copy(const MemcpyPeerRecord& record) = 0;
    virtual void set(const MemsetRecord& record) = 0;
    virtual void call(const ApiRecord& record) = 0; ///< of the runtime or the driver
    virtual void wait(const SynchronizationRecord& record) = 0;
    virtual void overhead(const OverheadRecord& record) = 0;
    virtual void memory(const MemoryRecord& record) = 0;
    virtual void unreadable() = 0; ///< what follows in the buffer cannot be told
};

/// `next` walks over the records, whose lengths the library alone knows. Any bytes: none that `next` leads
/// outside of them, or that are too short for their kind, are looked at. Kinds that nobody asked for are
/// passed over. O(bytes).
void parseRecords(std::span<std::uint8_t> buffer, NextRecord next, RecordSink& sink);

/// Moves the records of kinds that are wanted (by their number) to the front of a buffer, in their order, and
/// returns how many bytes they take; all of it where the records cannot be told apart.
[[nodiscard]] std::size_t keepRecords(std::span<std::uint8_t> buffer, NextRecord next, std::uint64_t wanted);

} // namespace strata::cupti
