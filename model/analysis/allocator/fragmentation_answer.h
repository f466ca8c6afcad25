// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/fragmentation.h"
#include "model/analysis/allocator/settings_advice.h"
#include "model/analysis/allocator/sharing.h"
#include "model/analysis/allocator/thrash.h"
#include "model/base/answer_fields.h"
#include "model/trace/filter/grouping.h"

#include <array>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// What `strata fragmentation` answers of one device. Points to the trace.
struct FragmentationAnswer {
    const DeviceTrace* trace;
    ReplayReport report;
    AllocatorMap map;
    Fragmentation now;
    std::optional<std::vector<Fragmentation>> over; ///< none: not asked for
    std::vector<SettingTried> tried;
    Sharing sharing;
    Thrash thrash;
    GroupTable byLine;
    std::size_t listed; ///< segments, at most those that are pinned
};

/// A pin and the lines of its trace, to which it points.
struct PinIn {
    const Pin* pin;
    const GroupTable* byLine;
};
[[nodiscard]] inline auto pinsIn(std::span<const Pin> pins, const GroupTable& byLine)
{
    return pins | std::views::transform([lines = &byLine](const Pin& pin) { return PinIn{ &pin, lines }; });
}

template <> struct Fields<PinIn> {
    static constexpr std::tuple all{
        field(
            "block", Unit::None, "number of the block", [](const PinIn& in) { return in.pin->block.value; }),
        field("line", Unit::None, "line of the program that allocated the block",
            [](const PinIn& in) -> const std::string& {
                return in.byLine->label(in.byLine->groupOf(in.pin->block));
            }),
        field("bytes", Unit::Bytes, "rounded size", [](const PinIn& in) { return in.pin->bytes; }),
        field("age_events", Unit::Count, "events since the block was allocated, or since the trace began",
            [](const PinIn& in) { return in.pin->ageEvents; }),
        field("gives_back_bytes", Unit::Bytes,
            "what `empty_cache()` would return more if this block alone were free",
            [](const PinIn& in) { return in.pin->givesBackBytes; }),
    };
};

/// A sum, as a row by stream or by pool.
struct ReservedByStream {
    const ReservedSum* sum;
};
struct ReservedByPool {
    const ReservedSum* sum;
};
template <class Row> [[nodiscard]] auto sumsIn(std::span<const ReservedSum> sums)
{
    return sums | std::views::transform([](const ReservedSum& sum) { return Row{ &sum }; });
}

template <class Row> [[nodiscard]] constexpr auto reservedFields()
{
    return std::tuple{
        field("segments", Unit::Count, "segments of it", [](const Row& row) { return row.sum->segments; }),
        field("reserved_bytes", Unit::Bytes, "of these segments",
            [](const Row& row) { return row.sum->reservedBytes; }),
        field("free_bytes", Unit::Bytes, "free in these segments",
            [](const Row& row) { return row.sum->freeBytes; }),
    };
}

template <> struct Fields<ReservedByStream> {
    static constexpr auto all
        = std::tuple_cat(std::tuple{ field("stream", Unit::None, "handle of the stream; null: not known",
                             [](const ReservedByStream& row, const FragmentationAnswer& in) {
                                 return row.sum->stream == kNoIndex
                                     ? std::nullopt
                                     : std::optional(in.trace->recording().streams[row.sum->stream]);
                             }) },
            reservedFields<ReservedByStream>());
};

template <> struct Fields<ReservedByPool> {
    static constexpr auto all = std::tuple_cat(
        std::tuple{ field("segment_pool_id", Unit::None, "the pool; `[0,0]`: the default pool",
            [](const ReservedByPool& row) {
                return std::array{ row.sum->pool.owner, row.sum->pool.id };
            }) },
        reservedFields<ReservedByPool>());
};

template <> struct Fields<PinnedSegment> {
    static constexpr std::tuple all{
        field("address", Unit::None, "where the segment begins",
            [](const PinnedSegment& pinned, const FragmentationAnswer& in) {
                return in.map.segments[pinned.segment].address;
            }),
        field("total_size", Unit::Bytes, "size of the segment",
            [](const PinnedSegment& pinned, const FragmentationAnswer& in) {
                return in.map.segments[pinned.segment].bytes;
            }),
        field("live_bytes", Unit::Bytes, "of live blocks in the segment, rounded", &PinnedSegment::liveBytes),
        field("free_bytes", Unit::Bytes, "free in the segment", &PinnedSegment::freeBytes),
        field("pins", Unit::None, "live blocks that keep the segment, the largest first",
            [](const PinnedSegment& pinned, const FragmentationAnswer& in) {
                return pinsIn(pinned.pins, in.byLine);
            }),
    };
};

template <> struct Fields<SettingTried> {
    static constexpr std::tuple all{
        field("set", Unit::None, "all settings, for `PYTORCH_CUDA_ALLOC_CONF`", &SettingTried::settings),
        field("reserved_bytes_peak", Unit::Bytes,
            "peak of reserved memory with these settings; with endless memory where a request is refused",
            within(&SettingTried::need, &ComparedNeed::afterBytes)),
        field("saved_bytes", Unit::Bytes,
            "of the same peak with the recorded settings; negative: these settings reserve more",
            [](const SettingTried& tried) { return tried.need.savedBytes(); }),
        field("exact", Unit::None, "whether the figures are exact; else an estimate", &SettingTried::exact),
        field("reason", Unit::None, "why the figures are not exact; null: they are",
            [](const SettingTried& tried) { return unlessEmpty(tried.reason); }),
        field("refuses_more", Unit::None, "whether a request fails that the recording served",
            &SettingTried::refusesMore),
        field("serves_request", Unit::None,
            "whether the last refused request is served, and all that the recording served; null: none was "
            "refused",
            &SettingTried::servesRequest),
        field("device_mallocs", Unit::Count, "calls that take memory from the driver",
            &SettingTried::deviceMallocs),
        field("device_frees", Unit::Count, "calls that give memory back to the driver",
            &SettingTried::deviceFrees),
    };
};

template <> struct Fields<Thrash::CauseBytes> {
    static constexpr std::tuple all{
        field("cause", Unit::None, "`empty_cache`, `retry` or `garbage_collection`",
            [](const Thrash::CauseBytes& of) { return causeName(of.cause); }),
        field("bytes", Unit::Bytes, "given back to the driver", &Thrash::CauseBytes::bytes),
        field("calls", Unit::Count, "calls of `empty_cache()`, or requests", &Thrash::CauseBytes::calls),
    };
};

template <> struct Fields<Thrash> {
    static constexpr std::tuple all{
        field("cycled_bytes", Unit::Bytes, "given back to the driver and taken again within a step",
            &Thrash::cycledBytes),
        field("given_back_bytes", Unit::Bytes, "given back to the driver", &Thrash::givenBackBytes),
        field(
            "device_mallocs", Unit::Count, "calls that take memory from the driver", &Thrash::deviceMallocs),
        field("device_frees", Unit::Count, "calls that give memory back to the driver", &Thrash::deviceFrees),
        field("lost_ns", Unit::Nanoseconds,
            "from releases to the requests that they were for; null: times are not real",
            [](const Thrash& thrash) {
                return thrash.timesAreReal ? std::optional(thrash.lostNs) : std::nullopt;
            }),
        field("causes", Unit::None, "why memory was given back, most bytes first", &Thrash::causes),
    };
};

template <> struct Fields<Fragmentation> {
    static constexpr std::tuple all{
        field("event", Unit::Event, "the figures are of the state after this event", &Fragmentation::event),
        field("exact", Unit::None, "whether every size is known", &Fragmentation::exact),
        field("reserved_bytes", Unit::Bytes, "of all segments", &Fragmentation::reservedBytes),
        field("live_bytes", Unit::Bytes, "of blocks in use, as requested", &Fragmentation::liveBytes),
        field("free_bytes", Unit::Bytes, "free in all segments", &Fragmentation::freeBytes),
        field("largest_free_bytes", Unit::Bytes, "the largest free block", &Fragmentation::largestFreeBytes),
        field("external_share", Unit::None, "1 - largest free / all free; null: nothing is free",
            [](const Fragmentation& of) {
                const auto share = of.externalShare();
                return share ? std::optional(decimals(*share, 6)) : std::nullopt;
            }),
        field("rounding_bytes", Unit::Bytes, "added to requests by rounding", &Fragmentation::roundingBytes),
        field("unsplit_bytes", Unit::Bytes, "tails of blocks, too small to be split off",
            &Fragmentation::unsplitBytes),
        field("pending_free_bytes", Unit::Bytes, "freed, but another stream may still use it",
            &Fragmentation::pendingBytes),
        field("cached_segments_bytes", Unit::Bytes, "of segments without a live block",
            &Fragmentation::cachedSegmentsBytes),
        field("cached_private_bytes", Unit::Bytes,
            "of these segments: of private pools in use, which keep them",
            &Fragmentation::cachedPrivateBytes),
        field("empty_cache_bytes", Unit::Bytes, "what `empty_cache()` gives back, at least",
            &Fragmentation::emptyCacheBytes),
    };
};

template <> struct Fields<FragmentationAnswer> {
    static constexpr auto all = std::tuple_cat(
        std::tuple{
            field("schema", Unit::None, "1", [](const FragmentationAnswer&) { return 1; }),
            field("device", Unit::None, "number of the device",
                [](const FragmentationAnswer& answer) { return answer.trace->device(); }),
        },
        within(&FragmentationAnswer::now, Fields<Fragmentation>::all),
        std::tuple{
            field("segments", Unit::None, "segments with live blocks and free memory, most free first",
                [](const FragmentationAnswer& answer) {
                    return std::span(answer.now.pinned).first(answer.listed);
                }),
            field("streams", Unit::None, "reserved memory by stream, the largest first",
                [](const FragmentationAnswer& answer) {
                    return sumsIn<ReservedByStream>(answer.now.streams);
                }),
            field("pools", Unit::None, "reserved memory by pool, the largest first",
                [](const FragmentationAnswer& answer) { return sumsIn<ReservedByPool>(answer.now.pools); }),
            field("shared_streams", Unit::None,
                "the recording replayed with as few streams as hold blocks at once; null: not tried",
                [](const FragmentationAnswer& answer) { return answer.sharing.streams; }),
            field("shared_pool", Unit::None,
                "the recording replayed with one pool for all CUDA graphs; null: not tried",
                [](const FragmentationAnswer& answer) { return answer.sharing.pools; }),
            field("settings", Unit::None,
                "other settings that were tried: those that serve the request, then the lowest peak",
                &FragmentationAnswer::tried),
            field("thrash", Unit::None, "memory given back to the driver and taken again",
                &FragmentationAnswer::thrash),
            field("over", Unit::None,
                "the same figures at the peaks of even parts of the trace; only with `--over`",
                [](const FragmentationAnswer& answer) {
                    return LeftOutWhereNone<std::span<const Fragmentation>>{ answer.over };
                }),
        });
};

} // namespace strata::model
