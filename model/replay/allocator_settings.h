// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace strata::model {

struct TorchVersion {
    int major = 0;
    int minor = 0;

    /// "2.15.0+cu130", "2.6.0a0+git1234": the rest does not matter. None of a text that begins otherwise.
    [[nodiscard]] static std::optional<TorchVersion> parse(std::string_view text);
    [[nodiscard]] std::string text() const; ///< "2.15"
    friend auto operator<=>(const TorchVersion&, const TorchVersion&) = default;
};

/// The versions whose allocator is known rule by rule.
inline constexpr TorchVersion kOldestReplayed{ 2, 1 };
inline constexpr TorchVersion kNewestReplayed{ 2, 15 };

/// PyTorch refuses larger requests.
inline constexpr std::int64_t kLargestRequest = std::int64_t{ 1 } << 60;
/// A range of addresses with room for anything, where the card is not known.
inline constexpr std::int64_t kUnknownRange = std::int64_t{ 1 } << 40;

/// Which of several free blocks of one size the allocator takes.
enum class TieRule : std::uint8_t {
    Address, ///< up to 2.11: the lowest
    BlockCounter, ///< 2.12: the one whose Block was constructed first
    SegmentCounter, ///< 2.13 and later: the one whose segment was made first, then the lowest
};
[[nodiscard]] TieRule tieRuleOf(TorchVersion version);

class SettingsTokens;

/// The settings of PyTorch's native caching allocator (PYTORCH_CUDA_ALLOC_CONF) that decide where a block
/// goes, under the rules of one version. Sizes in bytes. A value.
///
/// Source of all rules: c10/cuda/CUDACachingAllocator.cpp and CUDAAllocatorConfig.cpp, from 2.9 on
/// c10/core/AllocatorConfig.cpp, of the versions named.
struct AllocatorSettings {
    static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int64_t kMinBlock = 512;
    static constexpr std::int64_t kSmallSize = std::int64_t{ 1 } << 20; ///< rounded: the small pool's largest
    static constexpr std::int64_t kSmallSegment = std::int64_t{ 2 } << 20;
    static constexpr std::int64_t kMinLargeAlloc = std::int64_t{ 10 } << 20;
    static constexpr std::int64_t kRoundLarge = std::int64_t{ 2 } << 20;

    TorchVersion version = kNewestReplayed;
    bool expandableSegments = false;
    bool rejectsAboveFraction = false; ///< throw_on_cudamalloc_oom
    std::int64_t maxSplitBytes = kUnlimited;
    std::int64_t maxNonSplitRoundingBytes = std::int64_t{ 20 } << 20;
    std::int64_t largeSegmentBytes = std::int64_t{ 20 } << 20;
    double garbageCollectionThreshold = 0; ///< 0: none
    std::optional<double> memoryFraction; ///< of the device, as the string says (2.10 and later)
    double rangeReserve = 0; ///< expandable_segments_reserve; 0: as ever
    bool rangeReserveIsFraction = true; ///< of the device; else in GiB
    std::array<std::int64_t, 16> roundupDivisions{}; ///< by power of two from 1 MiB to 32 GiB; 0, 1: none

    friend bool operator==(const AllocatorSettings&, const AllocatorSettings&) = default;

    /// As that version of PyTorch parses the string: "expandable_segments:True,max_split_size_mb:64". Options
    /// that do not move a block are checked and left out. With `before`, a change in mid-run: what PyTorch
    /// does not reset stays. Fails with Usage: an option or value that this version refuses, and
    /// backend:cudaMallocAsync, whose blocks the driver places.
    [[nodiscard]] static Result<AllocatorSettings> parse(
        std::string_view text, TorchVersion version, const AllocatorSettings* before = nullptr);

    /// The size of the block for a request.
    [[nodiscard]] std::int64_t roundedBytes(std::int64_t requested) const
    {
        if (requested < kMinBlock)
            return kMinBlock;
        return m_dividesPowers ? dividedBytes(requested)
                               : (requested + kMinBlock - 1) / kMinBlock * kMinBlock;
    }
    /// Of the segment that is made for a block of `rounded` bytes, where segments are not expandable.
    [[nodiscard]] std::int64_t segmentBytes(std::int64_t rounded) const;
    [[nodiscard]] std::int64_t pageBytes(bool smallPool) const ///< by which expandable segments are mapped
    {
        return smallPool ? kSmallSegment : largeSegmentBytes;
    }
    /// Of the addresses that an expandable segment reserves: nine eighths of the device, or what the settings
    /// say, in whole pages.
    [[nodiscard]] std::int64_t rangeBytes(std::int64_t pageBytes, std::int64_t deviceBytes) const;

private:
    [[nodiscard]] std::int64_t dividedBytes(std::int64_t requested) const;
    [[nodiscard]] static Result<void> checkKey(const std::string& key, TorchVersion version);
    [[nodiscard]] Result<void> set(const std::string& key, SettingsTokens& tokens);
    [[nodiscard]] Result<void> setDivisions(SettingsTokens& tokens);

    bool m_dividesPowers = false;
};

} // namespace strata::model
