// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"
#include "model/readers/values/value.h"
#include "model/trace/strings.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace strata::model {

/// Texts that the reader looks for. They are interned first, so that a StringId below kKnownCount *is* a
/// Known and a key is recognised without comparing text. Keys come first and are fewer than 64: sets of them
/// are bits.
enum class Known : std::uint32_t {
    // Trace entries
    ActionName,
    Addr,
    DeviceFree,
    Size,
    Stream,
    TimeUs,
    Frames,
    CppFrames,
    CompileContext,
    UserMetadata,
    PoolId,
    ForwardFrames,
    Category,
    InternalMetadata,
    // Frames
    Filename,
    Name,
    Line,
    FxNodeOp,
    FxNodeName,
    FxNodeTarget,
    FxOriginalTrace,
    FxNodeInfo,
    BuildId, // of sessions that were made snapshots, as the next two
    Offset,
    Inlined,
    // Segments
    Device,
    Address,
    TotalSize,
    AllocatedSize,
    ActiveSize,
    RequestedSize,
    SegmentType,
    SegmentPoolId,
    IsExpandable,
    RegistrationCounter,
    Blocks,
    // Blocks
    State,
    History,
    RealSize,
    // The snapshot
    Segments,
    DeviceTraces,
    AllocatorSettings,
    ExternalAnnotations,
    HostSegments,
    HostTraces,
    Categories,
    // Annotations, pinned host memory, other formats
    Stage,
    Allocated,
    Active,
    OwnerPrivatePoolId,
    DeviceType, // of accelerators that are not CUDA's
    TraceEvents,
    KeyCount, // not a text
    // Actions, in the order of the enum Action
    Alloc = KeyCount,
    FreeRequested,
    FreeCompleted,
    SegmentAlloc,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    Snapshot,
    Oom,
    UserDefined,
    Annotate,
    // Other values
    Small,
    Large,
    ActiveAllocated,
    ActivePendingFree,
    ActiveAwaitingFree,
    Inactive,
    Start,
    End,
    NotApplicable,
    Empty,
    Count, // not a text
};

inline constexpr std::uint32_t kKeyCount = static_cast<std::uint32_t>(Known::KeyCount);
inline constexpr std::uint32_t kKnownCount = static_cast<std::uint32_t>(Known::Count);
static_assert(kKeyCount <= 64);

inline constexpr std::array<std::string_view, kKnownCount> kKnownTexts{ "action", "addr", "device_free",
    "size", "stream", "time_us", "frames", "cpp_frames", "compile_context", "user_metadata", "pool_id",
    "forward_frames", "category", "internal_metadata", "filename", "name", "line", "fx_node_op",
    "fx_node_name", "fx_node_target", "fx_original_trace", "fx_node_info", "build_id", "offset", "inlined",
    "device", "address", "total_size", "allocated_size", "active_size", "requested_size", "segment_type",
    "segment_pool_id", "is_expandable", "registration_counter", "blocks", "state", "history", "real_size",
    "segments", "device_traces", "allocator_settings", "external_annotations", "host_segments", "host_traces",
    "categories", "stage", "allocated", "active", "owner_private_pool_id", "device_type", "traceEvents", "alloc",
    "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap",
    "snapshot", "oom", "user_defined", "annotate", "small", "large", "active_allocated",
    "active_pending_free", "active_awaiting_free", "inactive", "START", "END", "N/A", "" };

[[nodiscard]] constexpr StringId idOf(Known known)
{
    return { static_cast<std::uint32_t>(known) };
}
[[nodiscard]] constexpr std::string_view textOf(Known known)
{
    return kKnownTexts[static_cast<std::size_t>(known)];
}
[[nodiscard]] constexpr bool isText(Value value, Known known)
{
    return value == Value::text(idOf(known));
}
/// The Known that a key is, or KeyCount.
[[nodiscard]] constexpr Known keyOf(Value value)
{
    return value.is(Value::Tag::Text) && value.row() < kKeyCount ? static_cast<Known>(value.row())
                                                                 : Known::KeyCount;
}
[[nodiscard]] constexpr std::uint64_t bitOf(Known key)
{
    return key == Known::KeyCount ? 0 : std::uint64_t{ 1 } << static_cast<std::uint32_t>(key);
}

/// `strings` must be empty.
inline void internKnown(StringTable& strings)
{
    for (const std::string_view text : kKnownTexts)
        static_cast<void>(strings.intern(text));
}

} // namespace strata::model
