// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/driver_track.h"

#include "model/wire/events_codec.h"

#include <algorithm>
#include <utility>

namespace strata::agent {

namespace {

constexpr std::int64_t kEveryNs = 1'000'000'000;
constexpr std::int64_t kAgainNs = 100'000'000; // after a reading that did not count

/// How an event changes what is reserved: 1, -1 or not at all.
int directionOf(std::uint8_t action)
{
    switch (static_cast<wire::EventAction>(action)) {
    case wire::EventAction::SegmentAlloc:
    case wire::EventAction::SegmentMap:
        return 1;
    case wire::EventAction::SegmentFree:
    case wire::EventAction::SegmentUnmap:
        return -1;
    default:
        return 0;
    }
}

} // namespace

DriverTrack::DriverTrack(ReadDriver read, std::size_t devices, bool followed)
    : m_read(std::move(read))
    , m_followed(followed)
    , m_devices(devices)
{
}

void DriverTrack::onBase(std::size_t device, std::int64_t reservedBytes)
{
    m_devices[device].baseBytes = reservedBytes;
}

void DriverTrack::onEvent(std::size_t device, std::uint8_t action, std::int64_t bytes)
{
    Device& at = m_devices[device];
    ++at.events;
    if (const int direction = directionOf(action); direction != 0) {
        ++at.moves;
        at.deltaBytes += direction * bytes;
    }
}

void DriverTrack::onLost(std::size_t device)
{
    m_devices[device].lost = true;
    ++m_devices[device].moves;
}

bool DriverTrack::isUsed(const Device& device) const
{
    return !m_followed || device.events > 0 || device.baseBytes.value_or(0) > 0;
}

void DriverTrack::look(std::int64_t nowNs, bool urgent, bool last)
{
    if (!m_read)
        return;
    bool again = false;
    for (Device& device : m_devices) {
        if (device.pending && device.pendingMoves != device.moves) {
            device.pending.reset();
            again = true;
        }
        settle(device);
    }
    if (again)
        m_nextNs = std::min(m_nextNs, nowNs + kAgainNs);
    if (!urgent && !last && nowNs < m_nextNs)
        return;
    m_nextNs = nowNs + kEveryNs;
    for (std::size_t i = 0; i < m_devices.size(); ++i) {
        if (isUsed(m_devices[i]))
            read(i, nowNs);
        if (last)
            settle(m_devices[i]);
    }
}

void DriverTrack::read(std::size_t device, std::int64_t nowNs)
{
    const std::optional<driver::Reading> reading = m_read(static_cast<int>(device));
    if (!reading || (!m_followed && reading->processBytes == 0))
        return;
    Device& at = m_devices[device];
    const std::int64_t reserved = m_followed && at.baseBytes && !at.lost ? *at.baseBytes + at.deltaBytes : -1;
    at.pending = wire::DriverRow{ static_cast<std::int32_t>(device), at.events, nowNs, reading->usedBytes,
        reading->processBytes, reserved };
    at.pendingMoves = at.moves;
}

void DriverTrack::settle(Device& device)
{
    if (!device.pending)
        return;
    const wire::DriverRow row = *std::exchange(device.pending, std::nullopt);
    if (device.last && device.last->usedBytes == row.usedBytes
        && device.last->processBytes == row.processBytes && device.last->reservedBytes == row.reservedBytes)
        return;
    device.last = row;
    m_rows.push_back(row);
}

std::vector<wire::DriverRow> DriverTrack::take()
{
    return std::exchange(m_rows, {});
}

} // namespace strata::agent
