// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/save.h"

#include "model/base/utf8.h"
#include "model/session/output_file.h"
#include "model/trace/producer.h"
#include "model/wire/info.h"

#include <bit>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace strata::model {
namespace {

/// Bytes that are not UTF-8, as old file names are, would keep Python from reading all the rest.
std::string asUtf8(std::string_view text)
{
    std::string valid;
    appendValidUtf8(valid, text);
    return valid;
}

/// The opcodes of protocol 4 that data needs (Python's Lib/pickletools.py describes them). Texts are
/// memoised: an event repeats its keys.
class PickleWriter {
public:
    explicit PickleWriter(OutputFile& file)
        : m_file(file)
    {
        raw("\x80\x04");
    }

    void beginDict() { raw("}("); }
    void endDict() { raw("u"); }
    void beginList() { raw("]("); }
    void endList() { raw("e"); }
    void stop()
    {
        raw(".");
        flush();
    }

    void boolean(bool value) { raw(value ? "\x88" : "\x89"); }
    void none() { raw("N"); }
    void real(double value)
    {
        raw("G");
        auto bits = std::bit_cast<std::uint64_t>(value);
        for (int i = 0; i < 8; ++i, bits <<= 8)
            m_buffer.push_back(static_cast<char>(bits >> 56));
    }
    void integer(std::int64_t value)
    {
        if (value >= 0 && value < 256) {
            raw("K");
            little(static_cast<std::uint64_t>(value), 1);
        } else if (value >= 0 && value < 65536) {
            raw("M");
            little(static_cast<std::uint64_t>(value), 2);
        } else if (value >= INT32_MIN && value <= INT32_MAX) {
            raw("J");
            little(static_cast<std::uint64_t>(value), 4);
        } else {
            raw(std::string_view("\x8a\x08", 2));
            little(static_cast<std::uint64_t>(value), 8);
        }
    }
    /// Addresses are written as torch does: as signed numbers.
    void address(std::uint64_t value) { integer(static_cast<std::int64_t>(value)); }
    void pair(std::int64_t first, std::int64_t second)
    {
        integer(first);
        integer(second);
        raw("\x86");
    }

    void text(std::string_view value)
    {
        const auto known = m_texts.find(std::string(value));
        if (known != m_texts.end()) {
            recall(known->second);
            return;
        }
        const std::string utf8 = asUtf8(value);
        if (utf8.size() < 256) {
            raw("\x8c");
            little(utf8.size(), 1);
        } else {
            raw("X");
            little(utf8.size(), 4);
        }
        raw(utf8);
        m_texts.emplace(value, remember());
    }
    /// Puts what was just written into the memo.
    std::uint32_t remember()
    {
        raw("\x94");
        return m_memo++;
    }
    void recall(std::uint32_t number)
    {
        if (number < 256) {
            raw("h");
            little(number, 1);
        } else {
            raw("j");
            little(number, 4);
        }
    }

    void json(const nlohmann::json& value)
    {
        switch (value.type()) {
        case nlohmann::json::value_t::object:
            beginDict();
            for (const auto& [key, member] : value.items()) {
                text(key);
                json(member);
            }
            endDict();
            break;
        case nlohmann::json::value_t::array:
            beginList();
            for (const nlohmann::json& item : value)
                json(item);
            endList();
            break;
        case nlohmann::json::value_t::string:
            text(value.get_ref<const std::string&>());
            break;
        case nlohmann::json::value_t::boolean:
            boolean(value.get<bool>());
            break;
        case nlohmann::json::value_t::number_integer:
        case nlohmann::json::value_t::number_unsigned:
            integer(value.get<std::int64_t>());
            break;
        case nlohmann::json::value_t::number_float:
            real(value.get<double>());
            break;
        default:
            none();
        }
    }

private:
    void raw(std::string_view bytes)
    {
        m_buffer += bytes;
        if (m_buffer.size() > (std::size_t{ 1 } << 20))
            flush();
    }
    void little(std::uint64_t value, int bytes)
    {
        for (int i = 0; i < bytes; ++i, value >>= 8)
            m_buffer.push_back(static_cast<char>(value));
    }
    void flush()
    {
        m_file.write(std::as_bytes(std::span(m_buffer)));
        m_buffer.clear();
    }

    OutputFile& m_file;
    std::string m_buffer;
    std::unordered_map<std::string, std::uint32_t> m_texts;
    std::uint32_t m_memo = 0;
};

class SnapshotWriter {
public:
    SnapshotWriter(const Recording& recording, OutputFile& file)
        : m_recording(recording)
        , m_out(file)
    {
    }

    bool write(const Progress& progress)
    {
        m_out.beginDict();
        m_out.text("segments");
        m_out.beginList();
        for (const DeviceRecording& device : m_recording.devices)
            for (const FinalSegment& segment : device.finalSegments)
                writeSegment(device, segment);
        m_out.endList();
        m_out.text("device_traces");
        if (!writeTraces(progress))
            return false;
        writeSettings();
        writeAnnotations();
        writeOthers();
        m_out.endDict();
        m_out.stop();
        return true;
    }

private:
    void key(std::string_view name, std::int64_t value)
    {
        m_out.text(name);
        m_out.integer(value);
    }
    void key(std::string_view name, StringId value)
    {
        m_out.text(name);
        m_out.text(m_recording.strings[value]);
    }
    /// A member that the recording has with a value; -1 stands for a key that was missing.
    void keyIfKnown(std::string_view name, std::int64_t value)
    {
        if (value != -1)
            key(name, value);
    }
    void members(StringId json)
    {
        const nlohmann::json object = json.valid()
            ? nlohmann::json::parse(m_recording.strings[json], nullptr, false)
            : nlohmann::json{};
        if (!object.is_object())
            return;
        for (const auto& [name, value] : object.items()) {
            m_out.text(name);
            m_out.json(value);
        }
    }

    void frame(FrameId id)
    {
        if (const auto known = m_frames.find(id.value); known != m_frames.end())
            return m_out.recall(known->second);
        const Frame& frame = m_recording.stacks.frame(id);
        m_out.beginDict();
        key("line", frame.line);
        key("name", frame.function);
        key("filename", frame.file);
        members(frame.extras);
        m_out.endDict();
        m_frames.emplace(id.value, m_out.remember());
    }
    void frames(StackId id)
    {
        m_out.text("frames");
        if (id.valid())
            if (const auto known = m_stacks.find(id.value); known != m_stacks.end())
                return m_out.recall(known->second);
        m_out.beginList();
        for (const FrameId item : m_recording.stacks.stack(id))
            frame(item);
        m_out.endList();
        if (id.valid())
            m_stacks.emplace(id.value, m_out.remember());
    }
    void stream(StreamIndex index) { key("stream", index == kNoIndex ? 0 : m_recording.streams[index]); }

    void writeSegment(const DeviceRecording& device, const FinalSegment& segment)
    {
        m_out.beginDict();
        key("device", device.device);
        m_out.text("address");
        m_out.address(segment.address);
        key("total_size", segment.bytes);
        keyIfKnown("allocated_size", segment.allocatedBytes);
        keyIfKnown("active_size", segment.activeBytes);
        keyIfKnown("requested_size", segment.requestedBytes);
        stream(segment.stream);
        const Pool pool = segment.pool == kNoIndex ? Pool{} : m_recording.pools[segment.pool];
        if (pool.kind != SegmentKind::Unknown) {
            m_out.text("segment_type");
            m_out.text(kindName(pool.kind));
        }
        if (const auto type = m_recording.facts.find(snapshot_facts::kDeviceType);
            type != m_recording.facts.end()) {
            m_out.text("device_type");
            m_out.text(type->second);
        }
        m_out.text("segment_pool_id");
        m_out.pair(pool.owner, pool.id);
        m_out.text("is_expandable");
        m_out.boolean(segment.expandable);
        frames(segment.stack);
        m_out.text("blocks");
        m_out.beginList();
        for (std::uint32_t i = 0; i < segment.blockCount; ++i)
            writeBlock(device.finalBlocks[segment.firstBlock + i]);
        m_out.endList();
        m_out.endDict();
    }

    void writeBlock(const FinalBlock& block)
    {
        m_out.beginDict();
        m_out.text("address");
        m_out.address(block.address);
        key("size", block.bytes);
        key("requested_size", block.requestedBytes);
        m_out.text("state");
        m_out.text(block.state == BlockState::Allocated  ? "active_allocated"
                : block.state == BlockState::PendingFree ? "active_pending_free"
                                                         : "inactive");
        frames(block.stack);
        m_out.endDict();
    }

    bool writeTraces(const Progress& progress)
    {
        m_out.beginList();
        int next = 0; // a device's trace is found by its place in the list
        for (const DeviceRecording& device : m_recording.devices) {
            for (; next < device.device; ++next) {
                m_out.beginList();
                m_out.endList();
            }
            ++next;
            m_out.beginList();
            for (EventIndex e = 0; e < device.events.size(); ++e) {
                if (e % 65536 == 0) {
                    if (progress.cancelled())
                        return false;
                    progress({ Stage::Building, e, device.events.size(), e });
                }
                writeEvent(device.events, e);
            }
            m_out.endList();
        }
        m_out.endList();
        return true;
    }

    void writeEvent(const EventColumns& events, EventIndex e)
    {
        const auto row = static_cast<std::size_t>(e);
        const Action action = events.action[row];
        const StringId name = events.otherAction.at(e);
        m_out.beginDict();
        m_out.text("action");
        m_out.text(name.valid() ? m_recording.strings[name] : actionName(action));
        m_out.text(action == Action::Oom ? "device_free" : "addr");
        m_out.address(events.address[row]);
        key("size", events.bytes[row]);
        stream(events.stream[row]);
        if (events.hasTimes())
            key("time_us", events.timeNs[row] / 1000);
        if (events.stack[row].valid())
            frames(events.stack[row]);
        if (const StringId text = events.compileContext.at(e); text.valid())
            key("compile_context", text);
        if (const StringId text = events.userMetadata.at(e); text.valid())
            key("user_metadata", text);
        if (events.pool[row] != kNoIndex) {
            const Pool& pool = m_recording.pools[events.pool[row]];
            m_out.text("pool_id");
            m_out.pair(pool.owner, pool.id);
        }
        members(events.extras.at(e));
        m_out.endDict();
    }

    void writeSettings()
    {
        if (m_recording.settings.empty() && !m_recording.simulated)
            return;
        m_out.text("allocator_settings");
        m_out.beginDict();
        for (const Setting& setting : m_recording.settings) {
            m_out.text(setting.key);
            m_out.json(nlohmann::json::parse(setting.json, nullptr, false));
        }
        // A snapshot has no other place that says so.
        constexpr const char* kSimulated = wire::settings::kSimulatedDevice;
        if (m_recording.simulated
            && std::ranges::find(m_recording.settings, kSimulated, &Setting::key)
                == m_recording.settings.end()) {
            m_out.text(kSimulated);
            m_out.json(nlohmann::json::object());
        }
        m_out.endDict();
    }

    void writeAnnotations()
    {
        if (m_recording.annotations.empty())
            return;
        m_out.text("external_annotations");
        m_out.beginList();
        for (const Annotation& annotation : m_recording.annotations) {
            m_out.beginDict();
            key("device", annotation.device);
            key("time_us", annotation.timeNs / 1000);
            key("name", annotation.name);
            if (annotation.thread != 0)
                key(wire::extras::kThread, annotation.thread);
            if (annotation.kind == Annotation::Kind::Start || annotation.kind == Annotation::Kind::End) {
                m_out.text("stage");
                m_out.text(annotation.kind == Annotation::Kind::Start ? "START" : "END");
            }
            m_out.endDict();
        }
        m_out.endList();
    }

    /// Members of the snapshot that it was, which Strata has no use for.
    void writeOthers()
    {
        const std::string_view prefix = snapshot_facts::kMember;
        const auto& facts = m_recording.facts;
        for (auto fact = facts.lower_bound(snapshot_facts::kMember);
             fact != facts.end() && fact->first.starts_with(prefix); ++fact) {
            const nlohmann::json value = nlohmann::json::parse(fact->second, nullptr, false);
            if (value.is_discarded())
                continue;
            m_out.text(std::string_view(fact->first).substr(prefix.size()));
            m_out.json(value);
        }
    }

    const Recording& m_recording;
    PickleWriter m_out;
    std::unordered_map<std::uint32_t, std::uint32_t> m_frames, m_stacks; // id -> place in the memo
};

} // namespace

Result<void> exportPickle(
    const Recording& recording, const std::filesystem::path& path, const Progress& progress)
{
    if (const auto kept = canBeKept(recording); !kept)
        return kept;
    Result<OutputFile> file = OutputFile::create(path);
    if (!file)
        return Failure(file.error());
    if (!SnapshotWriter(recording, *file).write(progress))
        return fail(Error::Kind::Cancelled, say("cancelled"));
    return file->commit();
}

} // namespace strata::model
