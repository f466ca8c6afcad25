// SPDX-License-Identifier: GPL-3.0-or-later
#include "recording_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::model {

namespace {

std::string stackText(const Recording& recording, StackId id)
{
    std::string out;
    for (const FrameId frame : recording.stacks.stack(id)) {
        const Frame& f = recording.stacks.frame(frame);
        out += fmt::format(" {}({}:{}{})", recording.strings[f.function], recording.strings[f.file], f.line,
            recording.strings[f.extras]);
    }
    return out;
}

std::string poolText(const Recording& recording, PoolIndex pool)
{
    if (pool == kNoIndex)
        return "-";
    const Pool& p = recording.pools[pool];
    return fmt::format("({},{})/{}", p.owner, p.id, static_cast<int>(p.kind));
}

std::string streamText(const Recording& recording, StreamIndex stream)
{
    return stream == kNoIndex ? "-" : fmt::format("{}", recording.streams[stream]);
}

std::string eventText(const Recording& recording, const EventColumns& events, std::size_t row)
{
    const auto e = static_cast<EventIndex>(row);
    return fmt::format("{} {:#x} {} t={} s={} p={} [{}|{}|{}|{}]{}", actionName(events.action[row]),
        events.address[row], events.bytes[row], events.hasTimes() ? events.timeNs[row] : -1,
        streamText(recording, events.stream[row]), poolText(recording, events.pool[row]),
        recording.strings[events.compileContext.at(e)], recording.strings[events.userMetadata.at(e)],
        recording.strings[events.otherAction.at(e)], recording.strings[events.extras.at(e)],
        stackText(recording, events.stack[row]));
}

} // namespace

nlohmann::json figuresOf(const Recording& recording)
{
    nlohmann::json devices = nlohmann::json::array();
    for (const DeviceRecording& device : recording.devices) {
        nlohmann::json actions = nlohmann::json::object();
        for (EventIndex e = 0; e < device.events.size(); ++e) {
            const Action action = device.events.action[static_cast<std::size_t>(e)];
            const std::string name(action == Action::Other
                    ? recording.strings[device.events.otherAction.at(e)]
                    : actionName(action));
            actions[name] = actions.value(name, 0) + 1;
        }
        std::int64_t reserved = 0;
        for (const FinalSegment& segment : device.finalSegments)
            reserved += segment.bytes;
        std::int64_t allocated = 0;
        std::int64_t pending = 0;
        std::int64_t inactive = 0;
        std::int64_t requested = 0;
        for (const FinalBlock& block : device.finalBlocks) {
            (block.state == BlockState::Allocated         ? allocated
                    : block.state == BlockState::Inactive ? inactive
                                                          : pending)
                += block.bytes;
            requested += block.state == BlockState::Inactive ? 0 : block.requestedBytes;
        }
        devices.push_back({ { "device", device.device }, { "events", device.events.size() },
            { "actions", actions }, { "segments", device.finalSegments.size() },
            { "blocks", device.finalBlocks.size() }, { "reserved_bytes_end", reserved },
            { "allocated_bytes_end", allocated }, { "active_bytes_end", allocated + pending },
            { "inactive_bytes_end", inactive }, { "requested_bytes_end", requested } });
    }
    return devices;
}

std::vector<std::string> linesOf(const Recording& recording)
{
    std::vector<std::string> lines;
    for (const DeviceRecording& device : recording.devices) {
        lines.push_back(fmt::format("device {}", device.device));
        for (std::size_t e = 0; e < device.events.action.size(); ++e)
            lines.push_back(eventText(recording, device.events, e));
        for (const FinalSegment& s : device.finalSegments) {
            lines.push_back(fmt::format("segment {:#x} {} {} {} {} s={} p={} {}{}", s.address, s.bytes,
                s.allocatedBytes, s.activeBytes, s.requestedBytes, streamText(recording, s.stream),
                poolText(recording, s.pool), s.expandable, stackText(recording, s.stack)));
            for (std::uint32_t b = s.firstBlock; b < s.firstBlock + s.blockCount; ++b) {
                const FinalBlock& block = device.finalBlocks[b];
                lines.push_back(fmt::format("block {:#x} {} {} {}{}", block.address, block.bytes,
                    block.requestedBytes, static_cast<int>(block.state), stackText(recording, block.stack)));
            }
        }
    }
    for (const Annotation& a : recording.annotations)
        lines.push_back(fmt::format("annotation {} {} {} {}", static_cast<int>(a.kind), a.device,
            recording.strings[a.name], a.timeNs));
    for (const Setting& s : recording.settings)
        lines.push_back(fmt::format("setting {} = {}", s.key, s.json));
    if (recording.host)
        lines.push_back(fmt::format("host {} {} {} {}", recording.host->segments,
            recording.host->reservedBytes, recording.host->allocatedBytes, recording.host->events));
    for (const auto& [key, count] : recording.unknownKeys)
        lines.push_back(fmt::format("unknown {} {}", key, count));
    for (const auto& [action, count] : recording.unknownActions)
        lines.push_back(fmt::format("unknown action {} {}", action, count));
    return lines;
}

} // namespace strata::model
