// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/allocator_settings.h"

#include "model/base/spelling.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
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
    { "pinned_free_catch_all", { 2, 12 } }, { "pinned_max_round_threshold_mb", { 2, 13 } },
    { "pinned_max_cached_size_mb", { 2, 13 } }, { "expandable_segments_reserve", { 2, 15 } },
    { "expandable_segments_reserve_by_class", { 2, 15 } } };

Failure refused(std::string_view key, std::string_view value, Sentence rule)
{
    return fail(Error::Kind::Usage, say("PyTorch refuses %1:%2", std::string(key), std::string(value)),
        std::move(rule));
}

/// From 2.10 on, settings of all accelerators are read by one parser, which holds fewer things against them.
bool isSharedParser(TorchVersion version)
{
    return version >= TorchVersion{ 2, 10 };
}

/// Up to 2.3 one division leaves a size as it is.
bool leavesUnrounded(TorchVersion version)
{
    return version < TorchVersion{ 2, 4 };
}

/// As std::stoull and std::stoi read it, which PyTorch asks: digits at its beginning, whatever follows; -1 is
/// the largest number.
std::optional<std::uint64_t> wholeNumber(const std::string& text, TorchVersion version)
{
    if (text.empty())
        return std::nullopt;
    char* end = nullptr;
    errno = 0;
    const std::uint64_t number = isSharedParser(version)
        ? std::strtoull(text.c_str(), &end, 10)
        : static_cast<std::uint64_t>(std::strtoll(text.c_str(), &end, 10));
    if (end == text.c_str() || errno == ERANGE)
        return std::nullopt;
    if (!isSharedParser(version) && static_cast<std::int64_t>(number) != static_cast<std::int32_t>(number))
        return std::nullopt;
    return number;
}

/// As std::stod does, but of no locale.
std::optional<double> fraction(const std::string& text)
{
    double number = 0;
    const char* const begin = text.c_str() + (text.starts_with('+') ? 1 : 0);
    if (std::from_chars(begin, text.c_str() + text.size(), number).ec != std::errc{})
        return std::nullopt;
    return number;
}

} // namespace

/// Words and marks (one of ",:[]") of settings, and how far they are read.
class SettingsTokens {
public:
    SettingsTokens(std::string_view text, TorchVersion version)
        : m_version(version)
    {
        std::string word;
        const auto endWord = [&] {
            if (!word.empty())
                m_tokens.push_back(std::exchange(word, {}));
        };
        for (const char c : text) {
            if (c == ',' || c == ':' || c == '[' || c == ']') {
                endWord();
                m_tokens.emplace_back(1, c);
            } else if (isSharedParser(version)
                    ? std::string_view(" \t\n\v\f\r").find(c) == std::string_view::npos
                    : c != ' ') {
                word += c;
            }
        }
        endWord();
    }

    [[nodiscard]] bool atEnd() const { return m_next >= m_tokens.size(); }
    /// Empty behind the last one.
    [[nodiscard]] const std::string& peek() const { return atEnd() ? m_none : m_tokens[m_next]; }
    [[nodiscard]] std::string take()
    {
        std::string token = peek();
        ++m_next;
        return token;
    }
    /// A mark has to be there; the newer parser does not look which.
    [[nodiscard]] bool takeMark(std::string_view mark)
    {
        const bool isHere = !atEnd();
        const std::string token = take();
        return isHere && (isSharedParser(m_version) || token == mark);
    }
    /// The value of another part of the settings: one token, or a list up to its end.
    [[nodiscard]] bool skipValue()
    {
        if (atEnd())
            return false;
        if (take() != "[")
            return true;
        while (!atEnd())
            if (take() == "]")
                return true;
        return false;
    }
    [[nodiscard]] std::size_t position() const { return m_next; }
    void goTo(std::size_t position) { m_next = position; }
    /// What was read since, as the user wrote it, blanks apart.
    [[nodiscard]] std::string textSince(std::size_t position) const
    {
        std::string text;
        for (std::size_t i = position; i < std::min(m_next, m_tokens.size()); ++i)
            text += m_tokens[i];
        return text;
    }

private:
    TorchVersion m_version;
    std::vector<std::string> m_tokens;
    std::string m_none;
    std::size_t m_next = 0;
};

std::string TorchVersion::text() const
{
    return std::to_string(major) + "." + std::to_string(minor);
}

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
    AllocatorSettings settings;
    if (before != nullptr)
        settings = *before;
    settings.version = version;
    settings.maxSplitBytes = kUnlimited;
    settings.garbageCollectionThreshold = 0;
    settings.roundupDivisions = {};

    // The size that others are held against comes first, and with it the default of one of them.
    const bool hasLargeSegments = version >= TorchVersion{ 2, 11 };
    if (hasLargeSegments)
        settings.maxNonSplitRoundingBytes = settings.largeSegmentBytes;
    for (const bool largeSegments : { true, false }) {
        if (largeSegments && !hasLargeSegments)
            continue;
        SettingsTokens tokens(text, version);
        while (!tokens.atEnd()) {
            const std::string key = tokens.take();
            if (const Result<void> known = checkKey(key, version); !known)
                return Failure(known.error());
            if (!tokens.takeMark(":"))
                return fail(Error::Kind::Usage, say("'%1' has no value", key),
                    say("settings are key:value pairs: expandable_segments:True,max_split_size_mb:128"));
            const bool isLargeSegments = key == "large_segment_size_mb";
            if (largeSegments != isLargeSegments) {
                if (!tokens.skipValue())
                    return fail(Error::Kind::Usage, say("'%1' has no value", key),
                        say("settings are key:value pairs: expandable_segments:True,max_split_size_mb:128"));
            } else if (const Result<void> done = settings.set(key, tokens); !done) {
                return Failure(done.error());
            }
            if (!tokens.atEnd() && !tokens.takeMark(","))
                return fail(Error::Kind::Usage, say("there is no comma behind the value of '%1'", key),
                    say("settings are key:value pairs: expandable_segments:True,max_split_size_mb:128"));
        }
    }
    settings.m_dividesPowers = std::ranges::any_of(settings.roundupDivisions,
        [&](std::int64_t d) { return d > 1 || (d == 1 && leavesUnrounded(version)); });
    return settings;
}

Result<void> AllocatorSettings::checkKey(const std::string& key, TorchVersion version)
{
    const auto option = std::ranges::find(kOptions, std::string_view(key), &Option::key);
    if (option == std::end(kOptions)) {
        const std::string name = key.substr(0, key.find('='));
        if (std::ranges::find(kOptions, std::string_view(name), &Option::key) != std::end(kOptions))
            return fail(Error::Kind::Usage, say("'%1' is no allocator setting of PyTorch", key),
                say("a colon stands before the value: %1:%2", name, key.substr(name.size() + 1)));
        const auto far = [&](const Option& known) { return editDistance(key, known.key); };
        const Option& nearest = *std::ranges::min_element(kOptions, {}, far);
        return fail(Error::Kind::Usage, say("'%1' is no allocator setting of PyTorch", key),
            far(nearest) <= key.size() / 3
                ? say("did you mean '%1'?", nearest.key)
                : say("settings are key:value pairs: expandable_segments:True,max_split_size_mb:128"));
    }
    if (version < option->since)
        return fail(Error::Kind::Usage, say("PyTorch %1 does not know '%2'", version.text(), key),
            say("it came with PyTorch %1", option->since.text()));
    return {};
}

Result<void> AllocatorSettings::set(const std::string& key, SettingsTokens& tokens)
{
    if (key == "roundup_power2_divisions")
        return setDivisions(tokens);
    if (key == "expandable_segments_reserve_by_class") {
        const std::size_t begin = tokens.position();
        if (tokens.peek() != "[" || !tokens.skipValue())
            return refused(key, tokens.textSince(begin), say("it is a list such as [capture:0.25]"));
        return {};
    }
    if (tokens.atEnd())
        return refused(key, "", say("it has no value"));
    const std::string value = tokens.take();
    const auto number = wholeNumber(value, version);
    const auto megabytes = [&]() -> std::optional<std::int64_t> {
        if (!number)
            return std::nullopt;
        constexpr auto most = static_cast<std::uint64_t>(kUnlimited / kMiB);
        return *number > most ? kUnlimited : static_cast<std::int64_t>(*number) * kMiB;
    };
    const bool isFlag = value == "True" || value == "False";
    if (key == "max_split_size_mb" || key == "max_non_split_rounding_mb") {
        const auto bytes = megabytes();
        const bool newRule = isSharedParser(version);
        if (!bytes || (newRule ? *bytes < largeSegmentBytes : *bytes <= largeSegmentBytes))
            return refused(key, value,
                newRule ? say("it is a whole number of megabytes, %1 or more", largeSegmentBytes / kMiB)
                        : say("it is a whole number of megabytes above %1", largeSegmentBytes / kMiB));
        (key == "max_split_size_mb" ? maxSplitBytes : maxNonSplitRoundingBytes) = *bytes;
    } else if (key == "large_segment_size_mb") {
        const auto bytes = megabytes();
        if (!bytes || *bytes <= kMinLargeAlloc)
            return refused(
                key, value, say("it is a whole number of megabytes above %1", kMinLargeAlloc / kMiB));
        largeSegmentBytes = *bytes;
        maxNonSplitRoundingBytes = *bytes;
    } else if (key == "garbage_collection_threshold") {
        const auto threshold = fraction(value);
        if (!threshold || !(*threshold > 0 && *threshold < 1))
            return refused(key, value, say("it is a number above 0 and below 1"));
        garbageCollectionThreshold = *threshold;
    } else if (key == "per_process_memory_fraction") {
        const auto part = fraction(value);
        if (!part || !(*part >= 0 && *part <= 1))
            return refused(key, value, say("it is a number from 0 to 1"));
        memoryFraction = *part;
    } else if (key == "backend") {
        if (value == "cudaMallocAsync")
            return fail(Error::Kind::Usage,
                say("with backend:cudaMallocAsync the driver places blocks, which no replay can follow"),
                say("leave it out: the caching allocator is PyTorch's default"));
        if (value != "native")
            return refused(key, value, say("it is native or cudaMallocAsync"));
    } else if (key == "pinned_num_register_threads") {
        if (!number || !std::has_single_bit(*number) || *number > 128)
            return refused(key, value, say("it is a power of two, 128 at most"));
    } else if (key == "pinned_reserve_segment_size_mb") {
        if (!number || *number == 0)
            return refused(key, value, say("it is a whole number above 0"));
    } else if (key == "pinned_max_round_threshold_mb" || key == "pinned_max_cached_size_mb") {
        if (!number)
            return refused(key, value, say("it is a whole number"));
    } else if (key == "expandable_segments_reserve") { // PyTorch passes over what is none
        const bool isGiB = value.ends_with('G');
        const auto reserve = fraction(isGiB ? value.substr(0, value.size() - 1) : value);
        if (reserve && *reserve > 0 && std::isfinite(*reserve)) {
            rangeReserve = *reserve;
            rangeReserveIsFraction = !isGiB;
        }
    } else {
        if (!isFlag)
            return refused(key, value, say("it is True or False"));
        if (key == "expandable_segments")
            expandableSegments = value == "True";
        else if (key == "throw_on_cudamalloc_oom")
            rejectsAboveFraction = value == "True";
    }
    return {};
}

Result<void> AllocatorSettings::setDivisions(SettingsTokens& tokens)
{
    const std::size_t begin = tokens.position();
    const auto wrong = [&] {
        return refused("roundup_power2_divisions", tokens.textSince(begin),
            say("it is a power of two, or a list such as [256:1,512:2,1024:4,>:8] of powers of two"));
    };
    const auto power = [&](const std::string& text) -> std::optional<std::uint64_t> {
        const auto number = wholeNumber(text, version);
        return number && std::has_single_bit(*number) ? number : std::nullopt;
    };
    std::string token = tokens.take();
    if (token != "[") {
        const auto divisions = power(token);
        if (!divisions)
            return wrong();
        roundupDivisions.fill(static_cast<std::int64_t>(*divisions));
        return {};
    }
    const std::size_t slots = roundupDivisions.size();
    std::size_t last = 0;
    bool first = true;
    for (;;) {
        if (tokens.atEnd()) {
            if (!isSharedParser(version)) // not missed there
                return {};
            return wrong();
        }
        token = tokens.take();
        if (token == "]")
            return {};
        if (!tokens.takeMark(":"))
            return wrong();
        const auto number = wholeNumber(tokens.take(), version);
        const bool isNone = number && *number == 0 && version >= TorchVersion{ 2, 4 };
        if (!number || (!isNone && !std::has_single_bit(*number)))
            return wrong();
        const auto divisions = static_cast<std::int64_t>(*number);
        if (token == ">") {
            // Up to 2.9 the last listed slot is overwritten.
            for (std::size_t i = isSharedParser(version) ? last + 1 : last; i < slots; ++i)
                roundupDivisions[i] = divisions;
        } else {
            const auto megabytes = power(token);
            if (!megabytes)
                return wrong();
            const auto slot = std::min(static_cast<std::size_t>(std::bit_width(*megabytes)) - 1, slots - 1);
            if (std::exchange(first, false))
                std::fill_n(roundupDivisions.begin(), slot, divisions);
            roundupDivisions[slot] = divisions;
            last = slot;
        }
        if (tokens.peek() != "]" && !tokens.takeMark(","))
            return wrong();
    }
}

std::int64_t AllocatorSettings::dividedBytes(std::int64_t requested) const
{
    const auto size = static_cast<std::uint64_t>(requested);
    const int log2 = std::bit_width(size) - 1;
    const std::int64_t divisions = roundupDivisions[static_cast<std::size_t>(std::clamp(log2 - 20, 0, 15))];
    std::int64_t step = kMinBlock;
    if (divisions == 1 && leavesUnrounded(version) && requested > kMinBlock)
        return requested;
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

std::int64_t AllocatorSettings::rangeBytes(std::int64_t pageBytes, std::int64_t deviceBytes) const
{
    std::int64_t bytes = deviceBytes + deviceBytes / 8;
    if (rangeReserve > 0) {
        const double reserved = rangeReserve
            * static_cast<double>(rangeReserveIsFraction ? deviceBytes : std::int64_t{ 1 } << 30);
        if (reserved < static_cast<double>(bytes))
            bytes = static_cast<std::int64_t>(reserved);
    }
    return (bytes + pageBytes - 1) / pageBytes * pageBytes;
}

} // namespace strata::model
