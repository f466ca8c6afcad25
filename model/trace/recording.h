// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"
#include "model/base/shared_vector.h"
#include "model/trace/events.h"
#include "model/trace/parts.h"
#include "model/trace/stacks.h"
#include "model/trace/strings.h"
#include "model/trace/user_data.h"
#include "model/wire/kinds.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

using SegmentKind = wire::PoolKind;

/// A pool of the caching allocator: PyTorch's mempool id, (0,0) for the default one, and which half of it.
struct Pool {
    std::int64_t owner = 0; ///< (owner, id): (0,0) default, (n,0) graph capture, (0,n) user MemPool
    std::int64_t id = 0;
    SegmentKind kind = SegmentKind::Unknown;

    friend auto operator<=>(const Pool&, const Pool&) = default;
};

[[nodiscard]] std::string_view kindName(SegmentKind kind); ///< "small", "large", "unknown"
[[nodiscard]] std::optional<SegmentKind> kindFromName(std::string_view name);
[[nodiscard]] std::string poolName(
    const Pool& pool); ///< its kind, or "(0,1)/large" of another than the default

using BlockState = wire::BlockState;

/// A block of a segment as the snapshot found it at the end.
struct FinalBlock {
    std::uint64_t address = 0;
    std::int64_t bytes = 0; ///< rounded
    std::int64_t requestedBytes = 0; ///< meaningless when inactive
    StackId stack;
    BlockState state = BlockState::Inactive;
};

/// A segment as the snapshot found it at the end, with the sums that PyTorch wrote for it.
struct FinalSegment {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t allocatedBytes = -1; ///< as written; -1 when the key is missing. So are the next two.
    std::int64_t activeBytes = -1;
    std::int64_t requestedBytes = -1;
    std::uint32_t firstBlock = 0; ///< rows of DeviceRecording::finalBlocks, in address order
    std::uint32_t blockCount = 0;
    StackId stack;
    StreamIndex stream = kNoIndex;
    PoolIndex pool = kNoIndex;
    bool expandable = false;
};

/// Segments and their blocks at one instant, sorted by address.
struct AllocatorState {
    SharedVector<FinalSegment> segments;
    SharedVector<FinalBlock> blocks;
};

/// What a profiler says of a device's memory beside its events, which are of blocks alone: sizes are
/// rounded, a free stands where it was asked for, and nothing tells of segments.
struct ProfiledMemory {
    enum class From : std::uint8_t {
        Trace, ///< its [memory] events
        TimelineRows, ///< what export_memory_timeline() wrote of storages, without their addresses
        TimelineSums, ///< likewise, of sums by category alone
    };
    From from = From::Trace;
    std::int64_t unnamedBytes = 0; ///< allocated before the first event, and not freed by any
    std::optional<std::int64_t> reservedBytes; ///< as first read; none: nothing tells what is reserved
    std::int64_t untold = 0; ///< events before which more came or went than the trace says
    std::int64_t untoldBytes = 0; ///< what that adds up to
    std::int64_t outOfMemories = 0;
};

/// What one device left behind: its trace and its segments at the end, segments sorted by address.
struct DeviceRecording {
    int device = 0;
    EventColumns events;
    SharedVector<FinalSegment> finalSegments;
    SharedVector<FinalBlock> finalBlocks;
    AllocatorState base; ///< before the first event, where a session has it: tells the stacks of older blocks
    std::optional<ProfiledMemory> profiled; ///< a profiler's trace told of it: then there are no segments
};

/// Events that `strata share` left out of a device's trace.
struct CutOff {
    std::int64_t before = 0;
    std::int64_t after
        = 0; ///< more than 0: the end state is made from the trace, its rounded sizes are lower bounds
};

/// A text that record_function (or torch itself) left on the clock of the recording.
struct Annotation {
    using Kind = wire::AnnotationKind;
    Kind kind = Kind::Mark;
    int device = -1;
    StringId name;
    std::int64_t timeNs = 0;
    std::uint32_t thread = 0; ///< as the operating system counts; 0: not known
};

/// One allocator setting as the snapshot had it: the value as JSON text ("\"expandable_segments:True\"",
/// "-1", "false").
struct Setting {
    std::string key;
    std::string json;
};

struct HostMemory {
    std::int64_t segments = 0;
    std::int64_t reservedBytes = 0;
    std::optional<std::int64_t> reservedBytesPeak; ///< as LibTorch counted it, where a recorder asked
    std::int64_t allocatedBytes = 0;
    std::int64_t events = 0;
};

/// What the driver said of a device at one moment, beside what PyTorch had reserved then.
struct DriverReading {
    int device = 0;
    std::int64_t event = 0; ///< how many events of the device came before
    std::int64_t timeNs = 0;
    std::int64_t usedBytes = 0; ///< by all processes
    std::optional<std::int64_t> processBytes; ///< by the process that was recorded
    std::optional<std::int64_t> reservedBytes; ///< by PyTorch in it
};

/// Events of a device that its recorder could not keep: `count` of them, before the event `event`.
struct LostEvents {
    int device = 0;
    std::int64_t event = 0;
    std::int64_t count = 0;
};

/// Where and why reading stopped before the end of the file.
struct Truncation {
    std::uint64_t offset = 0;
    Sentence reason;
    bool interrupted = false; ///< the file is whole, its program was ended: `reason` is a sentence of its own
};

/// Everything a reader found in a file, nothing derived from it. Rows as in the file, in the file's order. A
/// copy is a snapshot that shares what is large: it costs little and never changes when the original does.
struct Recording {
    std::string path;
    std::string format; ///< for people: "PyTorch snapshot (pickle protocol 4, gzip)"
    std::uint64_t fileBytes = 0;

    StringTable strings;
    StackTable stacks;
    std::vector<std::int64_t> streams; ///< cudaStream_t values by StreamIndex, in order of first appearance
    std::vector<Pool> pools; ///< by PoolIndex
    std::vector<std::uint32_t> threads; ///< as the operating system counts, by ThreadIndex
    std::vector<StringId> modules; ///< their paths, by ModuleIndex
    std::vector<DeviceRecording> devices; ///< by ascending device number; those with segments or events
    Column<Annotation, 10> annotations; ///< in the file's order
    std::vector<Setting> settings;
    std::optional<HostMemory> host; ///< pinned host memory, where the snapshot has it
    std::optional<Truncation> truncation;
    Column<LostEvents, 6> lost; ///< in the file's order
    Column<DriverReading, 8> driver; ///< likewise
    std::map<std::string, std::int64_t> unknownKeys; ///< "segment.foo" -> how often
    std::map<std::string, std::int64_t> unknownActions;
    std::map<int, CutOff> cuts; ///< by device
    std::map<std::string, std::string> facts; ///< of the process that was recorded: keys of model/wire/info.h
    std::optional<std::string> refusal; ///< why its allocator tells of no event, where it tells of none
    UserData user; ///< notes, named ranges, filters
    Parts parts; ///< what chunks of other kinds say
    bool simulated = false; ///< made on a simulated device, as far as the file says

    [[nodiscard]] StreamIndex internStream(std::int64_t stream); ///< kNoIndex once 65,535 are known
    [[nodiscard]] PoolIndex internPool(const Pool& pool); ///< likewise
    [[nodiscard]] ThreadIndex internThread(std::uint32_t thread); ///< likewise; kNoIndex for 0
    [[nodiscard]] ModuleIndex internModule(StringId name); ///< likewise; kNoIndex for none
    [[nodiscard]] const DeviceRecording* find(int device) const;
};

} // namespace strata::model
