// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/simulated_driver.h"
#include "model/trace/events.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// What a replayed allocator did, as its own trace would tell it.
struct ReplayedEvents {
    struct Event {
        Action action = Action::Alloc;
        std::uint64_t address = 0; ///< of Oom: what the device has left
        std::int64_t bytes = 0; ///< requested of blocks, of segments what they have; of Oom rounded
        std::uint64_t stream = 0; ///< cudaStream_t
        PoolOwner pool;
        EventIndex during = 0; ///< the row of the replayed requests that it is, or led to
        std::int32_t block = kNoBlock; ///< BlockId::value in the requests, of what they have
        friend bool operator==(const Event&, const Event&) = default;
    };
    /// A piece of a segment at the end.
    struct Piece {
        std::uint64_t address = 0;
        std::int64_t bytes = 0; ///< rounded
        std::uint64_t segment = 0; ///< where its segment or range begins
        std::uint64_t stream = 0;
        PoolOwner pool;
        bool small = false; ///< of the small pool
        bool expandable = false, allocated = false, pending = false;
        std::int32_t block = kNoBlock; ///< as of an event, where it is not free
        friend bool operator==(const Piece&, const Piece&) = default;
    };
    static constexpr std::int32_t kNoBlock = INT32_MIN;

    std::vector<Event> events;
    std::vector<Piece> end; ///< by address
};

/// A driver that tells what is asked of another one, as events. What it is given must outlive it. Not
/// thread-safe.
class TellingDriver final : public AllocatorDriver {
public:
    TellingDriver(SimulatedDriver& driver, ReplayedEvents& told)
        : m_driver(driver)
        , m_told(told)
    {
    }

    /// What is told from now on happens during that row of the requests, for a request of that pool.
    void begin(EventIndex event, PoolOwner pool)
    {
        m_event = event;
        m_pool = pool;
    }
    void tell(Action action, const ReplayBlock& block, std::int64_t requested);
    void tellRefused(std::int64_t roundedBytes, std::uint64_t stream);
    /// All pieces that are there now.
    void tellEnd(CachingAllocator& allocator);

    std::optional<std::uint64_t> makeSegment(std::int64_t bytes, std::uint64_t stream) override;
    void freeSegment(const ReplayBlock& segment) override;
    AddressRange reserveRange(std::int64_t pageBytes, std::uint64_t stream) override;
    void releaseRange(const AddressRange& range) override;
    bool map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void synchronize(CachingAllocator& allocator, PoolOwner only) override;

private:
    void add(Action action, std::uint64_t address, std::int64_t bytes, std::uint64_t stream, PoolOwner pool);

    SimulatedDriver& m_driver;
    ReplayedEvents& m_told;
    EventIndex m_event = 0;
    PoolOwner m_pool;
};

} // namespace strata::model
