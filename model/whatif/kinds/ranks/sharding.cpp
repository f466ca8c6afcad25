// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/ranks/sharding.h"

#include "model/whatif/ask/change_kind.h"

#include <algorithm>
#include <numeric>

namespace strata::model {

namespace {

constexpr std::int64_t kMostRanks = 1 << 16;
constexpr std::int64_t kMostBucketMib = 1 << 20;

std::optional<bool> truthOf(std::string_view text)
{
    if (text == "True" || text == "False")
        return text == "True";
    return std::nullopt;
}

/// KEY=VALUE of `sharding`. False: it has no such one.
bool takeSetting(Sharding& sharding, std::string_view key, std::string_view value)
{
    if (sharding.kind != Sharding::Kind::Fsdp) {
        if (key == "gradient_as_bucket_view") {
            const auto views = truthOf(value);
            sharding.gradientsAreViews = views.value_or(false);
            return views.has_value();
        }
        if (key == "bucket_cap_mb") {
            const auto mib = wholeNumber(value, kMostBucketMib);
            sharding.bucketBytes = mib.value_or(1) * (std::int64_t{ 1 } << 20);
            return mib.has_value();
        }
        return false;
    }
    if (key == "reshard_after_forward") {
        sharding.reshardsAfterForward = truthOf(value);
        return sharding.reshardsAfterForward.has_value();
    }
    if (key == "offload") {
        const auto offloads = truthOf(value);
        sharding.offloads = offloads.value_or(false);
        return offloads.has_value();
    }
    if (key == "modules") {
        sharding.modules = value;
        return !value.empty();
    }
    return false;
}

} // namespace

Result<Sharding> Sharding::parse(Kind kind, std::string_view text)
{
    Sharding sharding;
    sharding.kind = kind;
    const std::size_t comma = text.find(',');
    const auto ranks = wholeNumber(text.substr(0, comma), kMostRanks);
    if (!ranks)
        return fail(Error::Kind::Usage, say("'%1' names no number of ranks", text.substr(0, comma)),
            say("give one first, as 8"));
    sharding.ranks = *ranks;
    for (std::size_t at = comma; at != text.npos;) {
        const std::size_t next = text.find(',', at + 1);
        const std::string_view option = text.substr(at + 1, next == text.npos ? next : next - at - 1);
        const std::size_t equals = option.find('=');
        if (equals == option.npos
            || !takeSetting(sharding, option.substr(0, equals), option.substr(equals + 1)))
            return fail(Error::Kind::Usage, say("'%1' is no option of how a training is spread", option),
                kind == Kind::Fsdp
                    ? say("there are reshard_after_forward=True or False, offload=True or False, and "
                          "modules=CLASS "
                          "or CLASS+CLASS")
                    : say("there are gradient_as_bucket_view=True or False, and bucket_cap_mb=N"));
        at = next;
    }
    return sharding;
}

OptimizerShard zero1Shard(
    const RecordedOptimizer& optimizer, const std::vector<std::uint32_t>& groups, std::int64_t ranks)
{
    OptimizerShard shard{ optimizer, {} };
    shard.optimizer.parameters.clear();
    shard.optimizer.names.clear();
    constexpr std::uint32_t kElsewhere = UINT32_MAX;
    std::vector<std::uint32_t> places(optimizer.parameters.size(), kElsewhere); // within the shard
    std::vector<std::int64_t> elements(static_cast<std::size_t>(std::min<std::int64_t>(
        ranks, static_cast<std::int64_t>(std::max<std::size_t>(optimizer.parameters.size(), 1)))));
    for (std::size_t group = 0; group < groups.size(); ++group) {
        const std::size_t end = group + 1 < groups.size() ? groups[group + 1] : optimizer.parameters.size();
        shard.groups.push_back(static_cast<std::uint32_t>(shard.optimizer.parameters.size()));
        std::vector<std::uint32_t> sorted(end - groups[group]);
        std::iota(sorted.begin(), sorted.end(), groups[group]);
        std::ranges::stable_sort(sorted, std::ranges::greater{},
            [&](std::uint32_t index) { return optimizer.parameters[index].elements; });
        for (const std::uint32_t index : sorted) {
            const auto least = std::ranges::min_element(elements);
            if (least == elements.begin()) {
                places[index] = static_cast<std::uint32_t>(shard.optimizer.parameters.size());
                shard.optimizer.parameters.push_back(optimizer.parameters[index]);
                if (index < optimizer.names.size())
                    shard.optimizer.names.push_back(optimizer.names[index]);
            }
            *least += optimizer.parameters[index].elements;
        }
    }
    for (RecordedOptimizer::Step& step : shard.optimizer.steps) {
        std::vector<std::uint32_t> having;
        for (const std::uint32_t index : step.having)
            if (places[index] != kElsewhere)
                having.push_back(places[index]);
        std::ranges::sort(having);
        step.having = std::move(having);
    }
    return shard;
}

} // namespace strata::model
