// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/caching_allocator.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = std::int64_t{ 1 } << 20;
inline constexpr std::int64_t kGiB = std::int64_t{ 1 } << 30;
inline constexpr TorchVersion k26{ 2, 6 }, k215{ 2, 15 };

/// A device of `capacity` bytes for tests: addresses ascend from 0 and are never given twice; offsets in
/// ranges are told from the range's own number. Keeps what it was asked as text: "alloc 2M", "free 20M",
/// "map 0:20M +20M" (range 0, from 20 MiB on, 20 MiB), "unmap 0:0 +20M".
class PlainDriver final : public AllocatorDriver {
public:
    explicit PlainDriver(std::int64_t capacity = 64 * kGiB)
        : m_capacity(capacity)
    {
    }

    std::vector<std::string> events;
    std::vector<ReplayBlock*> pending; ///< completed when the allocator waits
    bool descending = false; ///< addresses of segments

    std::optional<std::uint64_t> makeSegment(std::int64_t bytes, std::uint64_t stream) override;
    void freeSegment(const ReplayBlock& segment) override;
    AddressRange reserveRange(std::int64_t pageBytes, std::uint64_t stream) override;
    void releaseRange(const AddressRange& range) override;
    bool map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void synchronize(CachingAllocator& allocator, PoolOwner only) override;

    [[nodiscard]] std::int64_t used() const { return m_used; }
    /// What happened since the last call.
    [[nodiscard]] std::vector<std::string> taken() { return std::exchange(events, {}); }

private:
    [[nodiscard]] std::string place(std::uint64_t address) const;

    std::int64_t m_capacity, m_used = 0;
    std::uint64_t m_next = std::uint64_t{ 1 } << 40;
    std::vector<AddressRange> m_ranges;
};

/// "20M", "3K", "512".
[[nodiscard]] std::string sizeText(std::int64_t bytes);

/// requestFree() and completeFree() at once.
void freeAtOnce(CachingAllocator& allocator, ReplayBlock* block);

[[nodiscard]] AllocatorSettings settingsOf(const std::string& text, TorchVersion version = kNewestReplayed);

/// One line for each segment or mapped part of a range, by address: "16M used, 4M, 1K pending".
[[nodiscard]] std::vector<std::string> layoutOf(CachingAllocator& allocator);

} // namespace strata::model
