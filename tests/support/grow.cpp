// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/grow.h"

#include "model/session/cut.h"
#include "model/trace/program/roles.h"

#include <algorithm>
#include <limits>

namespace strata::test {

using namespace model;

namespace {

void copyTexts(const SparseText& from, EventIndex first, EventIndex end, SparseText& to)
{
    for (const auto& [event, text] : from.items())
        if (event >= first && event < end)
            to.set(event, text);
}

} // namespace

std::unique_ptr<Recording> withoutDevices(const Recording& whole)
{
    auto tables = std::make_unique<Recording>(whole);
    for (DeviceRecording& device : tables->devices) {
        const int number = device.device;
        device = {};
        device.device = number;
    }
    return tables;
}

std::unique_ptr<Recording> withBase(std::unique_ptr<Recording> recording)
{
    const auto whole = Session::fromRecording(std::move(recording));
    CutOptions options;
    for (const DeviceTrace& trace : (*whole)->devices())
        options.spans[trace.device()] = { trace.eventCount() / 4, trace.eventCount() - 1 };
    auto rest = cut(**whole, options).recording;
    rest->cuts.clear();
    return rest;
}

Feeder::Feeder(const Recording& whole)
    : m_whole(whole)
    , m_session(withoutDevices(whole))
{
    if (whole.parts.find<RoleListings>())
        m_session.recording().parts.get<RoleListings>() = {};
}

bool Feeder::done(std::size_t device) const
{
    const auto& grown = const_cast<GrowingSession&>(m_session).recording().devices[device];
    return grown.events.size() == m_whole.devices[device].events.size();
}

void Feeder::addListings(int device, EventIndex until)
{
    const RoleListings::Rows& from = RoleListings::of(m_whole, device);
    if (from.empty())
        return;
    RoleListings::Rows& to = m_session.recording().parts.get<RoleListings>().byDevice[device];
    while (to.size() < from.size() && from[to.size()].event <= until)
        to.push_back(from[to.size()]);
}

void Feeder::addEvents(std::size_t device, std::int64_t count, std::int64_t late)
{
    const EventColumns& from = m_whole.devices[device].events;
    EventColumns& to = m_session.recording().devices[device].events;
    const EventIndex first = to.size();
    const EventIndex end = std::min(from.size(), first + count);
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(end); ++e) {
        to.action.push_back(from.action[e]);
        to.address.push_back(from.address[e]);
        to.bytes.push_back(from.bytes[e]);
        to.stack.push_back(from.stack[e]);
        to.block.push_back({});
        to.stream.push_back(from.stream[e]);
        to.pool.push_back(from.pool[e]);
        if (from.hasTimes())
            to.timeNs.push_back(from.timeNs[e]);
        if (!from.phase.empty() || !from.thread.empty() || !from.module.empty())
            to.tell(from.phaseOf(e), from.threadOf(e), from.moduleOf(e));
    }
    const bool last = end == from.size();
    addListings(m_whole.devices[device].device,
        last ? std::numeric_limits<EventIndex>::max() : std::max<EventIndex>(end - late, 0));
    copyTexts(from.compileContext, first, end, to.compileContext);
    copyTexts(from.userMetadata, first, end, to.userMetadata);
    copyTexts(from.otherAction, first, end, to.otherAction);
    copyTexts(from.extras, first, end, to.extras);
}

void Feeder::addBase(std::size_t device)
{
    m_session.recording().devices[device].base = m_whole.devices[device].base;
}

void Feeder::addEnd(std::size_t device)
{
    m_session.recording().devices[device].finalSegments = m_whole.devices[device].finalSegments;
    m_session.recording().devices[device].finalBlocks = m_whole.devices[device].finalBlocks;
}

std::shared_ptr<const Session> Feeder::append()
{
    const auto session = m_session.append([this](const DeviceRecording& device) {
        const DeviceRecording& whole = *m_whole.find(device.device);
        return device.events.size() == whole.events.size()
            && device.finalSegments.size() == whole.finalSegments.size();
    });
    return session ? *session : nullptr;
}

} // namespace strata::test
