// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/played_calls.h"

#include "model/wire/info.h"

#include <algorithm>

namespace strata::model {

RecordedCalls::RecordedCalls(const DeviceTrace& trace)
    : RecordedCalls(trace.recording(), AllocatorCalls::of(trace.recording(), trace.device()))
{
}

RecordedCalls::RecordedCalls(const Recording& recording, const AllocatorCalls::Calls& calls)
    : m_recording(&recording)
    , m_calls(&calls)
{
    const auto fact = m_recording->facts.find(wire::info::kAllocatorCalls);
    m_complete = fact != m_recording->facts.end() && fact->second == wire::info::kYes;
}

void RecordedCalls::playNext(CachingAllocator& allocator, bool emptyCaches)
{
    using Kind = AllocatorCall::Kind;
    const AllocatorCall& call = (*m_calls)[m_next++];
    const PoolOwner pool{ call.poolOwner, call.poolId };
    const bool poolsCapture = allocator.settings().version < TorchVersion{ 2, 13 };
    const auto open = [&](int more) {
        m_open = std::max(0, m_open + more);
        allocator.setCapturing(m_open > 0);
    };
    switch (call.kind) {
    case Kind::EmptyCache:
        if (emptyCaches || !pool.isDefault())
            allocator.emptyCache(pool);
        return;
    case Kind::Settings:
        if (const auto settings = AllocatorSettings::parse(
                m_recording->strings[call.value], allocator.settings().version, &allocator.settings()))
            allocator.setSettings(*settings);
        return;
    case Kind::MemoryFraction:
        allocator.setMemoryFraction(call.fraction);
        return;
    case Kind::PoolBegin:
        ++m_users[pool];
        if (poolsCapture)
            open(1);
        return;
    case Kind::PoolEnd:
        if (poolsCapture)
            open(-1);
        return;
    case Kind::PoolCreate:
        ++m_users[pool];
        return;
    case Kind::PoolRelease:
        if (--m_users[pool] <= 0) {
            m_users.erase(pool);
            allocator.releasePool(pool);
        }
        return;
    case Kind::CaptureBegin:
    case Kind::CaptureEnd:
        if (!poolsCapture)
            open(call.kind == Kind::CaptureBegin ? 1 : -1);
        return;
    case Kind::SettingsRefused:
    case Kind::PoolUseOnOom:
    case Kind::PoolNoSplit:
        return;
    }
}

std::set<PoolOwner> releasedPools(const DeviceTrace& trace, EventIndex event)
{
    using Kind = AllocatorCall::Kind;
    std::map<PoolOwner, int> users;
    std::set<PoolOwner> released;
    for (const AllocatorCall& call : AllocatorCalls::of(trace.recording(), trace.device())) {
        if (call.event > event)
            break;
        const PoolOwner pool{ call.poolOwner, call.poolId };
        if (call.kind == Kind::PoolBegin || call.kind == Kind::PoolCreate) {
            ++users[pool];
            released.erase(pool);
        } else if (call.kind == Kind::PoolRelease && --users[pool] <= 0) {
            released.insert(pool);
        }
    }
    return released;
}

} // namespace strata::model
