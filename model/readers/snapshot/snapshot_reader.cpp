// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/snapshot/snapshot_reader.h"

#include "model/readers/json/foreign_json.h"
#include "model/readers/snapshot/fields.h"
#include "model/readers/snapshot/segments.h"
#include "model/readers/values/json_text.h"
#include "model/trace/producer.h"
#include "model/wire/info.h"

namespace strata::model {

namespace {

constexpr std::uint64_t kSnapshotKeys
    = keySetOf(Known::Segments, Known::DeviceTraces, Known::AllocatorSettings, Known::ExternalAnnotations,
        Known::HostSegments, Known::HostTraces, Known::Categories);
constexpr std::uint64_t kUsedKeys = kSnapshotKeys & ~bitOf(Known::Categories);
constexpr std::size_t kMostSettingBytes = 65536;
constexpr std::size_t kMostMemberBytes = std::size_t{ 1 } << 25; // of members that Strata does not use, together
constexpr std::int64_t kMostAnnotationMicroseconds = std::numeric_limits<std::int64_t>::max() / 1000;

class SnapshotReader {
public:
    SnapshotReader(Heap& heap, Completeness completeness)
        : m_heap(heap)
        , m_recording(heap.recording())
        , m_salvaged(completeness == Completeness::Salvaged)
    {
    }

    Result<void> read(Value top)
    {
        if (!readTop(top))
            return Failure(m_heap.error());
        for (auto& [number, device] : m_devices)
            m_recording.devices.push_back(std::move(device));
        countUnknownActions();
        m_heap.writeUnknownCounts();
        if (m_salvaged && m_recording.devices.empty())
            return fail(Error::Kind::Format, say("nothing whole is left in it"));
        return {};
    }

private:
    bool readTop(Value top)
    {
        if (m_heap.isPlainList(top))
            return readSegmentList(top);
        if (!m_heap.isDict(top))
            return noSnapshot(m_heap.typeName(top));
        const std::span<const Value> pairs = m_heap.contents(top);
        const auto holds = [pairs](Known key) {
            for (std::size_t i = 0; i < pairs.size(); i += 2) {
                if (isText(pairs[i], key))
                    return true;
            }
            return false;
        };
        if (holds(Known::TraceEvents))
            return m_heap.failWith(Error::Kind::Format,
                say("this is a torch.profiler trace, not a memory snapshot"),
                say("write it with export_chrome_trace(FILE): strata timeline opens that; for memory, record "
                    "a snapshot"));
        if (!holds(Known::Segments) && !m_salvaged)
            return noSnapshot(say("a dict without 'segments'"));
        const Fields fields(m_heap, top, "snapshot", kSnapshotKeys);
        return readSegments(fields[Known::Segments]) && readTraces(fields[Known::DeviceTraces])
            && readSettings(fields[Known::AllocatorSettings])
            && readAnnotations(fields[Known::ExternalAnnotations]) && readHost(fields) && keepOthers(top);
    }

    /// Members that Strata has no use for, for whoever gets the snapshot again: each whole or not at all.
    bool keepOthers(Value top)
    {
        std::size_t bytes = 0;
        const std::span<const Value> pairs = m_heap.contents(top);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
            if (!pairs[i].is(Value::Tag::Text) || (bitOf(keyOf(pairs[i])) & kUsedKeys) != 0)
                continue;
            std::string json;
            if (!appendJson(m_heap, pairs[i + 1], kMostMemberBytes - bytes, json)
                || bytes + json.size() > kMostMemberBytes)
                continue;
            bytes += json.size();
            m_recording.facts[snapshot_facts::kMember + std::string(m_heap.textOf(pairs[i]))] = std::move(json);
        }
        return true;
    }

    bool noSnapshot(Sentence what)
    {
        return m_heap.failWith(Error::Kind::Format,
            say("there is no snapshot in it: it holds %1", std::move(what)), whatOpens());
    }

    /// What torch 1.13 wrote: a list of segments and nothing else.
    bool readSegmentList(Value list)
    {
        const std::span<const Value> items = m_heap.contents(list);
        if (items.empty())
            return noSnapshot(say("an empty list"));
        for (const Value item : items.first(1)) {
            const std::span<const Value> pairs
                = m_heap.isDict(item) ? m_heap.contents(item) : std::span<const Value>{};
            std::uint64_t keys = 0;
            for (std::size_t i = 0; i < pairs.size(); i += 2)
                keys |= bitOf(keyOf(pairs[i]));
            if ((keys & bitOf(Known::Blocks)) == 0 || (keys & bitOf(Known::TotalSize)) == 0)
                return noSnapshot(say("a list of other things (%1 first)", m_heap.typeName(item)));
        }
        m_recording.format = "PyTorch 1.13 snapshot";
        return readSegments(list);
    }

    bool readSegments(Value list)
    {
        if (list.is(Value::Tag::Unset))
            return true;
        if (!m_heap.isPlainList(list))
            return m_salvaged
                || m_heap.failWith(Error::Kind::Format,
                    say("'segments' is %1, not a list", m_heap.typeName(list)), whatOpens());
        if (!m_heap.spend(m_heap.contents(list).size()))
            return false;
        SegmentReader reader(m_heap, m_devices);
        for (const Value segment : m_heap.contents(list)) {
            if (reader.add(segment))
                continue;
            if (!m_salvaged)
                return false;
            break;
        }
        reader.finish();
        if (!reader.deviceType().empty())
            m_recording.facts[snapshot_facts::kDeviceType] = reader.deviceType();
        m_hasAllocatorsMarks = reader.hasStreamsOrTypes() || reader.count() == 0;
        return true;
    }

    bool readTraces(Value list)
    {
        if (list.is(Value::Tag::Unset) || list.is(Value::Tag::None))
            return true;
        if (!m_heap.isPlainList(list))
            return m_salvaged
                || m_heap.failWith(Error::Kind::Format,
                    say("'device_traces' is %1, not a list of lists", m_heap.typeName(list)));
        const std::span<const Value> items = m_heap.contents(list);
        for (std::size_t number = 0; number < items.size(); ++number) {
            Trace* const trace = m_heap.traceOf(items[number]);
            if (trace != nullptr && number <= static_cast<std::size_t>(SegmentReader::kHighestDevice)) {
                if (trace->rows() == 0)
                    return m_heap.failWith(
                        Error::Kind::Format, say("device %1 has the events of another one", number));
                const int device = static_cast<int>(number);
                if (!m_devices.contains(device) && m_devices.size() >= SegmentReader::kMostDevices)
                    return m_heap.failWith(Error::Kind::Format,
                        say("there are more than %1 devices", SegmentReader::kMostDevices));
                DeviceRecording& target = m_devices[device];
                target.device = device;
                target.events = std::move(trace->columns);
                trace->columns = {};
            } else if (trace != nullptr) {
                return m_heap.failWith(Error::Kind::Format, say("device %1 is impossible", number));
            } else if (!m_heap.isEmptyList(items[number]) && !m_salvaged) {
                return m_heap.failWith(Error::Kind::Format,
                    say("the trace of device %1 is %2, not a list of events", number,
                        m_heap.typeName(items[number])));
            }
        }
        return true;
    }

    bool readSettings(Value settings)
    {
        if (!m_heap.isDict(settings)) {
            // PyTorch wrote streams and types of segments from its first snapshot on.
            if (!m_hasAllocatorsMarks && !m_salvaged)
                m_recording.facts.try_emplace(snapshot_facts::kDeviceType, "other");
            return true;
        }
        const std::span<const Value> pairs = m_heap.contents(settings);
        for (std::size_t i = 0; i < pairs.size() && m_recording.settings.size() < 4096; i += 2) {
            if (!pairs[i].is(Value::Tag::Text))
                continue;
            Setting setting;
            setting.key = m_heap.textOf(pairs[i]);
            (void)appendJson(m_heap, pairs[i + 1], kMostSettingBytes, setting.json);
            if (setting.key == wire::settings::kSimulatedDevice)
                m_recording.simulated = true;
            m_recording.settings.push_back(std::move(setting));
        }
        return true;
    }

    bool readAnnotations(Value list)
    {
        const std::span<const Value> items
            = m_heap.isPlainList(list) ? m_heap.contents(list) : std::span<const Value>{};
        for (const Value item : items) {
            const std::span<const Value> pairs
                = m_heap.isDict(item) ? m_heap.contents(item) : std::span<const Value>{};
            if (!m_heap.spend(pairs.size() + 1))
                return false;
            Annotation annotation;
            std::optional<std::int64_t> timeUs;
            for (std::size_t i = 0; i < pairs.size(); i += 2) {
                const Value value = pairs[i + 1];
                switch (keyOf(pairs[i])) {
                case Known::Stage:
                    annotation.kind = isText(value, Known::Start) ? Annotation::Kind::Start
                        : isText(value, Known::End)               ? Annotation::Kind::End
                                                                  : Annotation::Kind::Mark;
                    break;
                case Known::Name:
                    annotation.name = value.is(Value::Tag::Text) ? value.textId() : StringId{};
                    break;
                case Known::Device: {
                    const std::optional<std::int64_t> device = m_heap.signedOf(value);
                    annotation.device = device && *device >= 0 && *device <= SegmentReader::kHighestDevice
                        ? static_cast<int>(*device)
                        : -1;
                    break;
                }
                case Known::TimeUs:
                    timeUs = m_heap.signedOf(value);
                    break;
                default: // recorders may add keys of their own, as our exports do
                    if (pairs[i].is(Value::Tag::Text) && m_heap.textOf(pairs[i]) == wire::extras::kThread)
                        annotation.thread = static_cast<std::uint32_t>(m_heap.signedOf(value).value_or(0));
                    break;
                }
            }
            if (!annotation.name.valid() || !timeUs || *timeUs > kMostAnnotationMicroseconds
                || *timeUs < -kMostAnnotationMicroseconds) {
                ++m_recording.unknownKeys["external_annotations.(without name or time)"];
                continue;
            }
            annotation.timeNs = *timeUs * 1000;
            m_recording.annotations.push_back(annotation);
        }
        return true;
    }

    bool readHost(const Fields& fields)
    {
        HostMemory host;
        const Value segments = fields[Known::HostSegments];
        if (m_heap.isPlainList(segments)) {
            for (const Value item : m_heap.contents(segments)) {
                const std::span<const Value> pairs
                    = m_heap.isDict(item) ? m_heap.contents(item) : std::span<const Value>{};
                if (!m_heap.spend(pairs.size() + 1))
                    return false;
                std::int64_t size = 0;
                Value allocated = Value::unset();
                for (std::size_t i = 0; i < pairs.size(); i += 2) {
                    if (isText(pairs[i], Known::Size) || isText(pairs[i], Known::TotalSize))
                        size = std::max<std::int64_t>(m_heap.signedOf(pairs[i + 1]).value_or(0), 0);
                    else if (isText(pairs[i], Known::Allocated) || isText(pairs[i], Known::AllocatedSize))
                        allocated = pairs[i + 1];
                }
                // A flag in some versions, bytes in others.
                const std::int64_t used = allocated == Value::boolean(true)
                    ? size
                    : std::clamp<std::int64_t>(m_heap.signedOf(allocated).value_or(0), 0, size);
                if (!m_heap.traces().addBytes(size))
                    return false;
                ++host.segments;
                host.reservedBytes += size;
                host.allocatedBytes += used;
            }
        }
        const Value traces = fields[Known::HostTraces];
        const auto countEvents = [&](Value list) {
            if (const Trace* trace = m_heap.traceOf(list))
                host.events += static_cast<std::int64_t>(trace->rows());
        };
        countEvents(traces);
        for (const Value list :
            m_heap.isPlainList(traces) ? m_heap.contents(traces) : std::span<const Value>{})
            countEvents(list);
        if (host.segments > 0 || host.events > 0)
            m_recording.host = host;
        return true;
    }

    void countUnknownActions()
    {
        for (const DeviceRecording& device : m_recording.devices) {
            for (const auto& [event, name] : device.events.otherAction.items())
                ++m_recording.unknownActions[std::string(m_recording.strings[name])];
        }
    }

    Heap& m_heap;
    Recording& m_recording;
    bool m_salvaged;
    bool m_hasAllocatorsMarks = true;
    std::map<int, DeviceRecording> m_devices;
};

} // namespace

Result<void> readSnapshot(Heap& heap, Value top, Completeness completeness)
{
    return SnapshotReader(heap, completeness).read(top);
}

} // namespace strata::model
