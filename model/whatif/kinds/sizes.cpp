// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/sizes.h"

#include "model/whatif/kinds/change_kinds.h"

#include <numeric>
#include <optional>
#include <string>

namespace strata::model {

namespace {

constexpr std::int64_t kMostItems = std::int64_t{ 1 } << 31;

/// "2", "0.5", "1.25": as a fraction in lowest terms.
std::optional<SizeAsked> factorOf(std::string_view text)
{
    constexpr std::size_t kMostPlaces = 6;
    const std::size_t point = text.find('.');
    const std::string_view places = point == text.npos ? std::string_view() : text.substr(point + 1);
    if (places.size() > kMostPlaces || (point != text.npos && places.empty()))
        return std::nullopt;
    std::string digits(text.substr(0, point));
    if (digits.empty())
        return std::nullopt;
    digits += places;
    const auto all = wholeNumber(digits, kMostItems);
    if (!all)
        return std::nullopt;
    std::int64_t of = 1;
    for (std::size_t place = 0; place < places.size(); ++place)
        of *= 10;
    const std::int64_t common = std::gcd(*all, of);
    return SizeAsked{ true, *all / common, of / common };
}

/// "16", "x2".
std::optional<SizeAsked> sizeOf(std::string_view value)
{
    if (value.starts_with('x'))
        return factorOf(value.substr(1));
    const auto items = wholeNumber(value, kMostItems);
    return items ? std::optional(SizeAsked{ false, *items, 1 }) : std::nullopt;
}

bool readSize(Change& change, Does effect)
{
    const auto size = sizeOf(change.value);
    if (!size)
        return false;
    change.asked = *size;
    change.effect = effect;
    return true;
}

Result<void> readBatch(Change& change)
{
    if (readSize(change, Does::Batch))
        return {};
    return fail(Error::Kind::Usage, say("--change '%1' names no size of a batch", change.text),
        say("give items, as batch=16, or how many times as many, as batch=x2 or batch=x0.5"));
}

Result<void> readSequence(Change& change)
{
    if (readSize(change, Does::Sequence))
        return {};
    return fail(Error::Kind::Usage, say("--change '%1' names no length of sequences", change.text),
        say("give tokens, as sequence=2048, or how many times as many, as sequence=x2 or sequence=x0.5"));
}

/// Half the batch and twice as much, where items stay whole.
std::vector<std::string> otherBatches(const RecordedRun& run)
{
    std::vector<std::string> values;
    if (!run.batchItems || run.steps == nullptr || run.steps->steps.empty())
        return values;
    if (*run.batchItems % 2 == 0)
        values.emplace_back("x0.5");
    values.emplace_back("x2");
    return values;
}

/// What changes that do so lead to, one after the other.
Result<std::int64_t> sizeAfter(std::span<const Change> changes, Does which, std::int64_t before)
{
    const bool isBatch = which == Does::Batch;
    std::int64_t numerator = before, denominator = 1;
    constexpr std::int64_t kMost = std::int64_t{ 1 } << 31; // of each factor: a product fits
    for (const Change& change : changes) {
        if (!change.does(which))
            continue;
        const SizeAsked& asked = change.as<SizeAsked>();
        if (!asked.isRelative) {
            numerator = asked.numerator;
            denominator = 1;
            continue;
        }
        const std::int64_t above = std::gcd(numerator, asked.denominator);
        const std::int64_t below = std::gcd(asked.numerator, denominator);
        const std::int64_t more = (numerator / above) * (asked.numerator / below);
        const std::int64_t parts = (denominator / below) * (asked.denominator / above);
        if (more > kMost || parts > kMost)
            return fail(Error::Kind::Usage,
                isBatch ? say("that batch is beyond all measure")
                        : say("sequences so long are beyond all measure"));
        numerator = more;
        denominator = parts;
    }
    if (numerator % denominator != 0)
        return fail(Error::Kind::Usage,
            isBatch
                ? say("a batch of %1 items cannot be changed so: the items are not whole", asCount(before))
                : say("a length of %1 cannot be changed so: it would not be whole", asCount(before)));
    return numerator / denominator;
}

} // namespace

extern constinit const ChangeKind kBatchKind{
    .word = "batch",
    .values = "batch=N or batch=xF",
    .help = English("items of the batch, or how many times as many"),
    .read = readBatch,
    .stage = ChangeStage::Sizes,
    .isByCalls = [](const Change&) { return true; },
    .madeBy = MadeBy::Arguments,
    .effort = Effort::Training,
    .alternatives = otherBatches,
    .replacesItself = true,
    .isOnce = true,
    .card = { .kind = ChangeCard::Kind::Size },
};

extern constinit const ChangeKind kSequenceKind{
    .word = "sequence",
    .values = "sequence=N or sequence=xF",
    .help = English("length of sequences, or how many times as long"),
    .read = readSequence,
    .stage = ChangeStage::Sizes,
    .madeBy = MadeBy::Arguments,
    .timeUnknown = English("how long it takes with other sequences is not known"),
    .effort = Effort::Training,
    .card = { .kind = ChangeCard::Kind::Size },
};

Result<std::int64_t> batchAfter(std::span<const Change> changes, std::int64_t items)
{
    return sizeAfter(changes, Does::Batch, items);
}

Result<std::int64_t> sequenceAfter(std::span<const Change> changes, std::int64_t length)
{
    return sizeAfter(changes, Does::Sequence, length);
}

} // namespace strata::model
