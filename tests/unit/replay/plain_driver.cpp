// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/replay/plain_driver.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace strata::model {

std::optional<std::uint64_t> PlainDriver::makeSegment(std::int64_t bytes, std::uint64_t)
{
    if (m_used + bytes > m_capacity)
        return std::nullopt;
    m_used += bytes;
    events.push_back("alloc " + sizeText(bytes));
    if (descending)
        return m_next -= static_cast<std::uint64_t>(bytes);
    m_next += static_cast<std::uint64_t>(bytes);
    return m_next - static_cast<std::uint64_t>(bytes);
}

void PlainDriver::freeSegment(const ReplayBlock& segment)
{
    EXPECT_TRUE(segment.isWholeSegment());
    m_used -= segment.bytes;
    events.push_back("free " + sizeText(segment.bytes));
}

AddressRange PlainDriver::reserveRange(std::int64_t pageBytes, std::uint64_t)
{
    const std::int64_t bytes = (m_capacity + m_capacity / 8 + pageBytes - 1) / pageBytes * pageBytes;
    m_next += static_cast<std::uint64_t>(bytes);
    return m_ranges.emplace_back(m_next - static_cast<std::uint64_t>(bytes), bytes, pageBytes);
}

void PlainDriver::releaseRange(const AddressRange& range)
{
    events.push_back("release " + place(range.address));
}

bool PlainDriver::map(std::uint64_t address, std::int64_t bytes, std::uint64_t)
{
    if (m_used + bytes > m_capacity)
        return false;
    m_used += bytes;
    events.push_back("map " + place(address) + " +" + sizeText(bytes));
    return true;
}

void PlainDriver::unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t)
{
    m_used -= bytes;
    events.push_back("unmap " + place(address) + " +" + sizeText(bytes));
}

void PlainDriver::synchronize(CachingAllocator& allocator, PoolOwner only)
{
    for (ReplayBlock* block : std::exchange(pending, {}))
        if (only.isDefault() || (block->pool->owner != nullptr && block->pool->owner->name == only))
            allocator.completeFree(*block);
        else
            pending.push_back(block);
}

std::string PlainDriver::place(std::uint64_t address) const
{
    const auto range = std::ranges::find_if(m_ranges, [&](const AddressRange& each) {
        return each.address <= address && address < each.address + static_cast<std::uint64_t>(each.bytes);
    });
    return std::to_string(range - m_ranges.begin()) + ":"
        + sizeText(static_cast<std::int64_t>(address - range->address));
}

std::string sizeText(std::int64_t bytes)
{
    if (bytes > 0 && bytes % kMiB == 0)
        return std::to_string(bytes / kMiB) + "M";
    if (bytes > 0 && bytes % kKiB == 0)
        return std::to_string(bytes / kKiB) + "K";
    return std::to_string(bytes);
}

void freeAtOnce(CachingAllocator& allocator, ReplayBlock* block)
{
    allocator.requestFree(*block);
    allocator.completeFree(*block);
}

AllocatorSettings settingsOf(const std::string& text, TorchVersion version)
{
    const auto settings = AllocatorSettings::parse(text, version);
    EXPECT_TRUE(settings.has_value()) << text;
    return settings.value_or(AllocatorSettings{});
}

std::vector<std::string> layoutOf(CachingAllocator& allocator)
{
    std::vector<const ReplayBlock*> heads;
    allocator.forEachBlock([&](const ReplayBlock& block) {
        if (block.mapped && (block.previous == nullptr || !block.previous->mapped))
            heads.push_back(&block);
    });
    std::ranges::sort(heads, {}, &ReplayBlock::address);
    std::vector<std::string> lines;
    for (const ReplayBlock* head : heads) {
        std::string line;
        for (const ReplayBlock* block = head; block != nullptr && block->mapped; block = block->next)
            line += (line.empty() ? "" : ", ") + sizeText(block->bytes)
                + (block->allocated      ? " used"
                        : block->pending ? " pending"
                                         : "");
        lines.push_back(line);
    }
    return lines;
}

} // namespace strata::model
