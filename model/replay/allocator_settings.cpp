// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/allocator_settings.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

constexpr std::int64_t kMiB = std::int64_t{ 1 } << 20;
constexpr TorchVersion kAlways{ 0, 0 };
constexpr TorchVersion kNever{ 1000, 0 };

/// An option, the first version that knows it and the first that does not any more.
struct Option {
    std::string_view key;
    TorchVersion since;
    TorchVersion until = kNever;
};

constexpr Option kOptions[]{ { "max_split_size_mb", kAlways }, { "garbage_collection_threshold", kAlways },
    { "roundup_power2_divisions", kAlways }, { "backend", { 2, 0 } }, { "expandable_segments", { 2, 1 } },
    { "release_lock_on_cudamalloc", { 2, 2 } }, { "release_lock_on_hipmalloc", { 2, 2 } },
    { "pinned_use_cuda_host_register", { 2, 1 } }, { "pinned_use_hip_host_register", { 2, 1 } },
    { "pinned_num_register_threads", { 2, 2 } }, { "pinned_use_background_threads", { 2, 6 } },
    { "max_non_split_rounding_mb", { 2, 6 } }, { "graph_capture_record_stream_reuse", { 2, 9 } },
    { "per_process_memory_fraction", { 2, 10 } }, { "pinned_reserve_segment_size_mb", { 2, 10 } },
    { "large_segment_size_mb", { 2, 11 } }, { "throw_on_cudamalloc_oom", { 2, 12 } },
    { "pinned_free_catch_all", { 2, 12 } }, { "pinned_max_round_threshold_mb", { 2, 12 } },
    { "pinned_max_cached_size_mb", { 2, 12 } }, { "expandable_segments_reserve", { 2, 15 } },
    { "expandable_segments_reserve_by_class", { 2, 15 } } };

std::string versionText(TorchVersion version)
{
    return std::to_string(version.major) + "." + std::to_string(version.minor);
}

template <class Number> std::optional<Number> numberOf(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

Failure refused(std::string_view key, std::string_view value, Sentence rule)
{
    return fail(Error::Kind::Usage, say("PyTorch refuses %1:%2", std::string(key), std::string(value)),
        std::move(rule));
}

/// At commas outside of brackets.
std::vector<std::string_view> itemsOf(std::string_view text)
{
    std::vector<std::string_view> items;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            if (i > begin)
                items.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        } else if (text[i] == '[') {
            ++depth;
        } else if (text[i] == ']') {
            --depth;
        }
    }
    return items;
}

} // namespace

std::optional<TorchVersion> TorchVersion::parse(std::string_view text)
{
    TorchVersion version;
    const char* const end = text.data() + text.size();
    auto [dot, error] = std::from_chars(text.data(), end, version.major);
    if (error != std::errc{} || dot == end || *dot != '.')
        return std::nullopt;
    if (std::from_chars(dot + 1, end, version.minor).ec != std::errc{} || version.major < 0
        || version.minor < 0)
        return std::nullopt;
    return version;
}

TieRule tieRuleOf(TorchVersion version)
{
    if (version < TorchVersion{ 2, 12 })
        return TieRule::Address;
    return version < TorchVersion{ 2, 13 } ? TieRule::BlockCounter : TieRule::SegmentCounter;
}

Result<AllocatorSettings> AllocatorSettings::parse(
    std::string_view text, TorchVersion version, const AllocatorSettings* before)
{
    std::string plain;
    std::ranges::copy_if(text, std::back_inserter(plain), [](char c) { return c != ' '; });

    AllocatorSettings settings;
    if (before != nullptr)
        settings = *before;
    settings.version = version;
    settings.maxSplitBytes = kUnlimited;
    settings.garbageCollectionThreshold = 0;
    settings.roundupDivisions = {};

    std::vector<std::pair<std::string_view, std::string_view>> pairs;
    for (const std::string_view item : itemsOf(plain)) {
        const std::size_t colon = item.find(':');
        const std::string_view key = item.substr(0, colon);
        const auto option = std::ranges::find(kOptions, key, &Option::key);
        if (option == std::end(kOptions))
            return fail(Error::Kind::Usage, say("'%1' is no allocator setting of PyTorch", std::string(key)),
                say("settings are key:value pairs: expandable_segments:True,max_split_size_mb:128"));
        if (version < option->since)
            return fail(Error::Kind::Usage,
                say("PyTorch %1 does not know '%2'", versionText(version), std::string(key)),
                say("it came with PyTorch %1", versionText(option->since)));
        if (colon == std::string_view::npos)
            return fail(Error::Kind::Usage, say("'%1' has no value", std::string(key)),
                say("settings are key:value pairs: expandable_segments:True,max_split_size_mb:128"));
        pairs.emplace_back(key, item.substr(colon + 1));
    }
    // The sizes that others are held against come first.
    std::ranges::stable_partition(
        pairs, [](const auto& pair) { return pair.first == "large_segment_size_mb"; });
    for (const auto& [key, value] : pairs)
        if (const Result<void> done = settings.set(key, value); !done)
            return Failure(done.error());
    settings.m_dividesPowers
        = std::ranges::any_of(settings.roundupDivisions, [](std::int64_t d) { return d > 1; });
    return settings;
}

Result<void> AllocatorSettings::set(std::string_view key, std::string_view value)
{
    const auto megabytes = [&]() -> std::optional<std::int64_t> {
        const auto number = numberOf<std::int64_t>(value);
        return number && *number >= 0 ? std::optional(std::min(*number, kUnlimited / kMiB) * kMiB)
                                      : std::nullopt;
    };
    const auto flag = [&]() -> std::optional<bool> {
        if (value == "True" || value == "False")
            return value == "True";
        return std::nullopt;
    };
    if (key == "max_split_size_mb") {
        const auto bytes = megabytes();
        const bool newRule = version >= TorchVersion{ 2, 9 };
        if (!bytes || (newRule ? *bytes < largeSegmentBytes : *bytes <= largeSegmentBytes))
            return refused(key, value,
                newRule ? say("it is a whole number of megabytes, %1 or more", largeSegmentBytes / kMiB)
                        : say("it is a whole number of megabytes above %1", largeSegmentBytes / kMiB));
        maxSplitBytes = *bytes;
    } else if (key == "max_non_split_rounding_mb") {
        const auto bytes = megabytes();
        if (!bytes || *bytes <= largeSegmentBytes)
            return refused(
                key, value, say("it is a whole number of megabytes above %1", largeSegmentBytes / kMiB));
        maxNonSplitRoundingBytes = *bytes;
    } else if (key == "large_segment_size_mb") {
        const auto bytes = megabytes();
        if (!bytes || *bytes <= kMinLargeAlloc)
            return refused(
                key, value, say("it is a whole number of megabytes above %1", kMinLargeAlloc / kMiB));
        largeSegmentBytes = *bytes;
        maxNonSplitRoundingBytes = *bytes;
    } else if (key == "garbage_collection_threshold") {
        const auto number = numberOf<double>(value);
        if (!number || !(*number > 0 && *number < 1))
            return refused(key, value, say("it is a number above 0 and below 1"));
        garbageCollectionThreshold = *number;
    } else if (key == "per_process_memory_fraction") {
        const auto number = numberOf<double>(value);
        if (!number || !(*number >= 0 && *number <= 1))
            return refused(key, value, say("it is a number from 0 to 1"));
        memoryFraction = *number;
    } else if (key == "expandable_segments" || key == "throw_on_cudamalloc_oom") {
        const auto on = flag();
        if (!on)
            return refused(key, value, say("it is True or False"));
        (key == "expandable_segments" ? expandableSegments : rejectsAboveFraction) = *on;
    } else if (key == "roundup_power2_divisions") {
        return setDivisions(value);
    } else if (key == "backend") {
        if (value == "cudaMallocAsync")
            return fail(Error::Kind::Usage,
                say("with backend:cudaMallocAsync the driver places blocks, which no replay can follow"),
                say("leave it out: the caching allocator is PyTorch's default"));
        if (value != "native")
            return refused(key, value, say("it is native or cudaMallocAsync"));
    }
    return {};
}

Result<void> AllocatorSettings::setDivisions(std::string_view value)
{
    const auto power = [](std::string_view text) -> std::optional<std::int64_t> {
        const auto number = numberOf<std::int64_t>(text);
        return number && *number > 0 && std::has_single_bit(static_cast<std::uint64_t>(*number))
            ? number
            : std::nullopt;
    };
    const auto wrong = [&] {
        return refused("roundup_power2_divisions", value,
            say("it is a power of two, or a list such as [256:1,512:2,1024:4,>:8] of powers of two"));
    };
    if (!value.starts_with('[')) {
        const auto number = power(value);
        if (!number)
            return wrong();
        roundupDivisions.fill(*number);
        return {};
    }
    if (!value.ends_with(']'))
        return wrong();
    roundupDivisions = {};
    const std::size_t slots = roundupDivisions.size();
    std::size_t last = 0;
    bool first = true;
    for (const std::string_view item : itemsOf(value.substr(1, value.size() - 2))) {
        const std::size_t colon = item.find(':');
        if (colon == std::string_view::npos)
            return wrong();
        const auto divisions = power(item.substr(colon + 1));
        if (!divisions)
            return wrong();
        if (item.substr(0, colon) == ">") {
            // Up to 2.9 the last listed slot is overwritten.
            const std::size_t from = version >= TorchVersion{ 2, 10 } ? last + 1 : last;
            for (std::size_t i = from; i < slots; ++i)
                roundupDivisions[i] = *divisions;
        } else {
            const auto megabytes = power(item.substr(0, colon));
            if (!megabytes)
                return wrong();
            const auto slot = std::min(
                static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(*megabytes))) - 1,
                slots - 1);
            if (first)
                std::fill_n(roundupDivisions.begin(), slot + 1, *divisions);
            else
                roundupDivisions[slot] = *divisions;
            first = false;
            last = slot;
        }
    }
    return {};
}

std::int64_t AllocatorSettings::dividedBytes(std::int64_t requested) const
{
    const auto size = static_cast<std::uint64_t>(requested);
    const int log2 = std::bit_width(size) - 1;
    const std::int64_t divisions = roundupDivisions[static_cast<std::size_t>(std::clamp(log2 - 20, 0, 15))];
    std::int64_t step = kMinBlock;
    if (divisions > 1 && requested > kMinBlock * divisions) {
        if (std::has_single_bit(size))
            return requested;
        const std::int64_t power = std::int64_t{ 1 } << log2;
        step = power / divisions;
    }
    return (requested + step - 1) / step * step;
}

std::int64_t AllocatorSettings::segmentBytes(std::int64_t rounded) const
{
    if (rounded <= kSmallSize)
        return kSmallSegment;
    if (rounded < kMinLargeAlloc)
        return largeSegmentBytes;
    return (rounded + kRoundLarge - 1) / kRoundLarge * kRoundLarge;
}

} // namespace strata::model
