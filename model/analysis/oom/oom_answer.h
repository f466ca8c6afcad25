// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/fragmentation_answer.h"
#include "model/analysis/allocator/oom_verdict.h"
#include "model/analysis/oom/oom_next.h"
#include "model/trace/stack_fields.h"

#include <optional>
#include <ranges>
#include <string>
#include <vector>

namespace strata::model {

/// An out-of-memory of one device. Points to the trace.
struct OomOfDevice {
    OomOfDevice(const DeviceTrace& trace, OomExplained explained, const std::string& file);

    const DeviceTrace* trace;
    OomVerdict verdict;
    GroupTable byLine; ///< of blocks
    std::string line; ///< that requested the memory
    std::vector<NextStep> next;
};

/// What `strata oom` answers.
struct OomAnswer {
    std::string file;
    std::vector<OomOfDevice> devices;
};

/// Settings that were tried for an out-of-memory with this verdict.
struct OomAdvice {
    const SettingTried* tried;
    const OomVerdict* verdict;
};

template <> struct Fields<OomCauseBytes> {
    static constexpr std::tuple all{
        field("cause", Unit::None, "one of the words of `verdict`",
            [](const OomCauseBytes& of) { return causeName(of.cause); }),
        field("bytes", Unit::Bytes, "withheld from the request", &OomCauseBytes::bytes),
        field("would_have_served", Unit::None,
            "whether these bytes alone, with those free on the device, would have served the request",
            &OomCauseBytes::wouldHaveServed),
    };
};

template <> struct Fields<OomParts> {
    static constexpr std::tuple all{
        field("requested", Unit::Bytes, "of blocks in use, as requested", &OomParts::requestedBytes),
        field("rounding", Unit::Bytes, "added to requests by rounding; tails that were not split off, too",
            &OomParts::roundingBytes),
        field("pending_free", Unit::Bytes, "freed, but another stream may still use it",
            &OomParts::pendingFreeBytes),
        field("free_small", Unit::Bytes, "free in segments of small blocks", &OomParts::freeSmallBytes),
        field("free_large", Unit::Bytes, "free in segments of large blocks", &OomParts::freeLargeBytes),
        field("free_private", Unit::Bytes, "free in private pools", &OomParts::freePrivateBytes),
        field("device_free", Unit::Bytes, "free on the device", &OomParts::deviceFreeBytes),
        field("outside", Unit::Bytes, "of this process, outside PyTorch's allocator; null: not known",
            &OomParts::outsideBytes),
        field("other_processes", Unit::Bytes, "of other processes; null: not known",
            &OomParts::otherProcessesBytes),
        field("unknown", Unit::Bytes,
            "outside PyTorch's allocator, by whom is not recorded; null: the capacity is not known",
            &OomParts::unknownBytes),
    };
};

template <> struct Fields<OomAdvice> {
    static constexpr std::tuple all{
        field("set", Unit::None, "all settings, for `PYTORCH_CUDA_ALLOC_CONF`",
            [](const OomAdvice& of) -> const std::string& { return of.tried->settings; }),
        field("served", Unit::None, "whether the request is served with these settings",
            [](const OomAdvice& of) { return of.tried->servesRequest.value_or(false); }),
        field("reserved_bytes_peak", Unit::Bytes,
            "peak of reserved memory with these settings and endless memory",
            [](const OomAdvice& of) { return of.tried->need.afterBytes; }),
        field("saved_bytes", Unit::Bytes,
            "of the same peak with the recorded settings; negative: they reserve more",
            [](const OomAdvice& of) { return of.tried->need.savedBytes(); }),
        field("spare_bytes", Unit::Bytes, "what PyTorch could have reserved beyond that peak; 0: nothing",
            [](const OomAdvice& of) { return of.verdict->spareBytes(*of.tried); }),
        field("exact", Unit::None, "whether the figures are exact; else an estimate",
            [](const OomAdvice& of) { return of.tried->exact; }),
    };
};

template <> struct Fields<OomOfDevice> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the device",
            [](const OomOfDevice& of) { return of.trace->device(); }),
        field("event", Unit::Event, "the out-of-memory", within(&OomOfDevice::verdict, &OomVerdict::event)),
        field("requested_bytes", Unit::Bytes, "always null: recordings have the rounded size alone",
            [](const OomOfDevice&) { return std::optional<std::int64_t>(); }),
        field("rounded_bytes", Unit::Bytes, "rounded size of the request",
            within(&OomOfDevice::verdict, &OomVerdict::roundedBytes)),
        field("device_free_bytes", Unit::Bytes, "free on the device",
            [](const OomOfDevice& of) { return of.verdict.parts.deviceFreeBytes; }),
        field("line", Unit::None, "line of the program that requested the memory", &OomOfDevice::line),
        field("stack", Unit::None, "stack trace of the request",
            [](const OomOfDevice& of) {
                return StackIn{ &of.trace->recording(), of.verdict.request };
            }),
        field("verdict", Unit::None,
            "`too_big`, `leak`, `memory_fraction`, `fragmented`, `private_pools`, `pending_free`, "
            "`outside_pytorch`, `other_process` or `unknown`",
            [](const OomOfDevice& of) { return causeName(of.verdict.cause); }),
        field("certainty", Unit::None, "of the verdict: `recorded`, `shown_by_stack`, `likely` or `unknown`",
            [](const OomOfDevice& of) { return certaintyWord(of.verdict.certainty); }),
        field("packed_spare_bytes", Unit::Bytes,
            "free with the request, if nothing was fragmented; below 0: missing",
            within(&OomOfDevice::verdict, &OomVerdict::packedSpareBytes)),
        field("causes", Unit::None, "memory withheld from the request, most bytes first",
            within(&OomOfDevice::verdict, &OomVerdict::causes)),
        field("capacity_bytes", Unit::Bytes, "of the device; null: not known",
            within(&OomOfDevice::verdict, &OomVerdict::capacityBytes)),
        field("capacity_source", Unit::None, "`session`, `option`, `out_of_memory` or `none`",
            [](const OomOfDevice& of) { return sourceName(of.verdict.capacitySource); }),
        field("exact", Unit::None, "whether every rounded size is known",
            within(&OomOfDevice::verdict, &OomVerdict::exact)),
        field("parts", Unit::None, "what the memory of the device was used for; adds up to the device",
            within(&OomOfDevice::verdict, &OomVerdict::parts)),
        field("pins", Unit::None, "live blocks of the segments with the most free memory",
            [](const OomOfDevice& of) { return pinsIn(of.verdict.pins, of.byLine); }),
        field("remedy", Unit::None, "why no setting serves the request; null: see `advice`",
            [](const OomOfDevice& of) { return unlessEmpty(remedySentence(of.verdict)); }),
        field("next", Unit::None, "what to do, the best first; three at most", &OomOfDevice::next),
        field("advice", Unit::None, "settings that serve the request when the recording is replayed",
            [](const OomOfDevice& of) {
                return of.verdict.advice
                    | std::views::transform([verdict = &of.verdict](const SettingTried& tried) {
                          return OomAdvice{ &tried, verdict };
                      });
            }),
    };
};

template <> struct Fields<OomAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const OomAnswer&) { return 1; }),
        field("file", Unit::None, "the recording", &OomAnswer::file),
        field("devices", Unit::None, "an out-of-memory of each device", &OomAnswer::devices),
    };
};

} // namespace strata::model
