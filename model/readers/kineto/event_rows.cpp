// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/kineto/event_rows.h"

#include "model/readers/kineto/decimal.h"
#include "model/readers/kineto/scalar_type.h"
#include "model/wire/info.h"

#include <algorithm>
#include <array>
#include <simdjson.h>
#include <string>

namespace strata::model {

namespace {

namespace json = simdjson::ondemand;

static_assert(EventRows::kPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::int64_t kNamed = INT64_MIN / 2; // and up: processes and threads that a text stands for

WorkKind kindOf(std::string_view category)
{
    struct Known {
        std::string_view category;
        WorkKind kind;
    };
    // Those of 2021 begin with a capital.
    static constexpr std::array kKnown{ Known{ "cpu_op", WorkKind::Operator },
        Known{ "python_function", WorkKind::Python }, Known{ "cuda_runtime", WorkKind::Runtime },
        Known{ "kernel", WorkKind::Kernel }, Known{ "cuda_driver", WorkKind::Runtime },
        Known{ "user_annotation", WorkKind::Annotation }, Known{ "gpu_memcpy", WorkKind::Copy },
        Known{ "gpu_memset", WorkKind::Set }, Known{ "gpu_user_annotation", WorkKind::DeviceAnnotation },
        Known{ "cuda_sync", WorkKind::Synchronisation }, Known{ "overhead", WorkKind::Overhead },
        Known{ "Operator", WorkKind::Operator }, Known{ "Runtime", WorkKind::Runtime },
        Known{ "Kernel", WorkKind::Kernel }, Known{ "Memcpy", WorkKind::Copy },
        Known{ "Memset", WorkKind::Set } };
    for (const Known& known : kKnown)
        if (known.category == category)
            return known.kind;
    const bool isCall = category.ends_with("_runtime") || category.ends_with("_driver");
    return isCall ? WorkKind::Runtime : WorkKind::Other;
}

bool isOnDevice(WorkKind kind)
{
    return isDeviceWork(kind) || kind == WorkKind::DeviceAnnotation || kind == WorkKind::Synchronisation;
}

std::uint32_t identifierOf(std::int64_t value)
{
    return value > 0 && value <= UINT32_MAX ? static_cast<std::uint32_t>(value) : 0;
}

} // namespace

struct EventRows::Parser {
    json::parser parser;
    std::string several; // the objects of addSeveral, as an array

    /// False: no row; what came before damage counts where that says what the row is.
    [[nodiscard]] static bool read(json::object object, StringTable& strings, Row& row);
};

/// What a row says, as far as anybody asks for it. Texts are the parser's until it reads the next row.
struct EventRows::Row {
    std::string_view phase, category, name;
    std::int64_t process = 0, thread = 0;
    std::optional<std::int64_t> timeNs, durationNs, id;
    WorkKind kind = WorkKind::Other;

    // of its arguments
    std::optional<std::int64_t> device, stream, deviceType, deviceId, address, bytes, allocated, reserved,
        sort;
    std::int64_t correlation = 0, external = 0, sequence = -1, forwardThread = 0;
    KernelDetail kernel;
    std::int64_t given = 0, got = 0; // elements of a collective
    std::string_view element; // their type
    std::string_view shapes, types, values, strides, label;
};

std::size_t EventRows::LaneHash::operator()(const LaneKey& key) const noexcept
{
    const auto mixed = static_cast<std::uint64_t>(key.process) * 0x9e3779b97f4a7c15U
        ^ static_cast<std::uint64_t>(key.thread) * 0xc2b2ae3d27d4eb4fU ^ (key.isDevice ? 1U : 0U);
    return mixed ^ mixed >> 29;
}

EventRows::EventRows(Recording& recording, Work& work)
    : m_recording(recording)
    , m_work(work)
    , m_parser(std::make_unique<Parser>())
{
}

EventRows::~EventRows() = default;

namespace {

/// A value as it stands in the file.
std::string_view rawOf(json::value value)
{
    std::string_view text;
    json::json_type type{};
    if (value.type().get(type))
        return {};
    if (type == json::json_type::array || type == json::json_type::object) {
        if (type == json::json_type::array) {
            json::array array;
            if (value.get_array().get(array) || array.raw_json().get(text))
                return {};
        } else {
            json::object object;
            if (value.get_object().get(object) || object.raw_json().get(text))
                return {};
        }
        return text;
    }
    return trimmed(value.raw_json_token());
}

std::optional<std::int64_t> integerIn(json::value value)
{
    return integerOf(value.raw_json_token());
}

void readThree(json::value value, std::int32_t (&into)[3])
{
    json::array array;
    if (value.get_array().get(array))
        return;
    int i = 0;
    for (auto item : array) {
        std::int64_t number = 0;
        if (item.get_int64().get(number) || i >= 3)
            continue;
        into[i++] = static_cast<std::int32_t>(std::clamp<std::int64_t>(number, -1, INT32_MAX));
    }
}

} // namespace

bool EventRows::Parser::read(json::object object, StringTable& strings, Row& row)
{
    const auto textIn = [](json::value value) {
        std::string_view found;
        return value.get_string().get(found) ? std::string_view() : found;
    };
    // Of processes and threads that are texts: "stream 7", "Traces".
    const auto nameIn = [&](json::value value) {
        const std::string_view token = value.raw_json_token();
        if (const auto number = integerOf(token))
            return *number;
        return kNamed + static_cast<std::int64_t>(strings.intern(textIn(value)).value);
    };
    const auto readArgument = [&](std::string_view key, json::value value) {
        const auto into = [&](auto& to) {
            if (const auto number = integerIn(value))
                to = static_cast<std::remove_reference_t<decltype(to)>>(*number);
        };
        switch (row.kind) {
        case WorkKind::Kernel:
        case WorkKind::Copy:
        case WorkKind::Set:
        case WorkKind::Synchronisation:
        case WorkKind::DeviceAnnotation:
            if (key == "device")
                into(row.device);
            else if (key == "stream")
                into(row.stream);
            else if (key == "bytes")
                into(row.bytes);
            else if (key == "grid")
                readThree(value, row.kernel.grid);
            else if (key == "block")
                readThree(value, row.kernel.block);
            else if (key == "registers per thread")
                into(row.kernel.registers);
            else if (key == "shared memory")
                into(row.kernel.sharedBytes);
            else if (key == "est. achieved occupancy %")
                into(row.kernel.occupancyPercent);
            else if (key == "In msg nelems")
                into(row.given);
            else if (key == "Out msg nelems")
                into(row.got);
            else if (key == "dtype")
                row.element = textIn(value);
            [[fallthrough]];
        case WorkKind::Runtime:
            if (key == "correlation")
                into(row.correlation);
            [[fallthrough]];
        case WorkKind::Annotation:
        case WorkKind::Operator:
            if (key == "External id" || key == "external id")
                into(row.external);
            if (row.kind != WorkKind::Operator)
                break;
            if (key == "Sequence number")
                into(row.sequence);
            else if (key == "Fwd thread id")
                into(row.forwardThread);
            else if (key == "Input Dims" || key == "Input dims")
                row.shapes = rawOf(value);
            else if (key == "Input type")
                row.types = rawOf(value);
            else if (key == "Concrete Inputs")
                row.values = rawOf(value);
            else if (key == "Input Strides")
                row.strides = rawOf(value);
            break;
        default:
            if (key == "Device Type")
                into(row.deviceType);
            else if (key == "Device Id")
                into(row.deviceId);
            else if (key == "Addr")
                into(row.address);
            else if (key == "Bytes")
                into(row.bytes);
            else if (key == "Total Allocated")
                into(row.allocated);
            else if (key == "Total Reserved")
                into(row.reserved);
            else if (key == "name" || key == "labels")
                row.label = textIn(value);
            else if (key == "sort_index")
                into(row.sort);
            break;
        }
    };
    const auto readArguments = [&](json::value value) {
        json::object arguments;
        if (row.kind == WorkKind::Python || value.get_object().get(arguments))
            return;
        for (auto field : arguments) {
            std::string_view key;
            json::value argument;
            if (field.unescaped_key().get(key) || field.value().get(argument))
                return;
            readArgument(key, argument);
        }
    };

    bool isKnown = false, isLate = false; // the kind; arguments that came before it
    for (auto field : object) {
        std::string_view key;
        json::value value;
        if (field.unescaped_key().get(key) || field.value().get(value))
            return !row.phase.empty() && row.timeNs; // what came before the damage counts
        if (key == "ph") {
            row.phase = textIn(value);
        } else if (key == "cat") {
            row.category = textIn(value);
            row.kind = kindOf(row.category);
            isKnown = true;
        } else if (key == "name") {
            row.name = textIn(value);
        } else if (key == "pid") {
            row.process = nameIn(value);
        } else if (key == "tid") {
            row.thread = nameIn(value);
        } else if (key == "ts") {
            row.timeNs = nanosecondsOf(numberText(value.raw_json_token()));
        } else if (key == "dur") {
            row.durationNs = nanosecondsOf(numberText(value.raw_json_token()));
        } else if (key == "id") {
            row.id = integerOf(value.raw_json_token());
        } else if (key == "args") {
            if (isKnown || (!row.phase.empty() && row.phase != "X"))
                readArguments(value);
            else
                isLate = true;
        }
    }
    if (isLate) {
        json::value value;
        if (!object.reset().error() && !object.find_field("args").get(value))
            readArguments(value);
    }
    return true;
}

void EventRows::add(std::string_view text)
{
    json::document document;
    json::object object;
    Row row;
    if (!m_parser->parser.iterate(text.data(), text.size(), text.size() + kPadding).get(document)
        && !document.get_object().get(object) && Parser::read(object, m_recording.strings, row))
        return addRow(row);
    ++m_work.counts[""];
    ++m_work.unreadable;
}

std::size_t EventRows::addSeveral(std::string_view objects)
{
    std::string& text = m_parser->several;
    text.assign(1, '[').append(objects).append(1, ']');
    const std::size_t size = text.size();
    text.append(kPadding, ' ');
    json::document document;
    json::array array;
    if (m_parser->parser.iterate(text.data(), size, text.size()).get(document)
        || document.get_array().get(array))
        return 0;
    std::size_t taken = 0;
    for (auto item : array) {
        json::value value;
        json::object object;
        Row row;
        if (item.get(value))
            return taken;
        taken = static_cast<std::size_t>(value.raw_json_token().data() - text.data()) - 1;
        if (value.get_object().get(object) || !Parser::read(object, m_recording.strings, row)
            || !document.is_alive())
            return taken;
        addRow(row);
    }
    return document.is_alive() ? objects.size() : taken;
}

void EventRows::addRow(const Row& row)
{
    const auto counted = m_work.counts.find(row.category);
    ++(counted != m_work.counts.end() ? counted->second : m_work.counts[std::string(row.category)]);
    if (row.phase == "M")
        return addName(row);
    if (row.phase == "X" || row.phase == "B" || row.phase == "E") {
        if (!row.timeNs)
            ++m_work.unreadable;
        else
            addSpan(row);
    } else if (row.name == "[memory]" || row.name == "[OutOfMemory]") {
        if (!row.timeNs || !row.bytes)
            ++m_work.unreadable;
        else
            addMemory(row);
    } else if (row.category == "fwdbwd" && (row.phase == "s" || row.phase == "f")) {
        addFlow(row);
    }
}

LaneIndex EventRows::laneOf(const Row& row, bool isDevice)
{
    LaneKey key{ row.process, row.thread, isDevice };
    if (isDevice && row.device)
        key.process = *row.device;
    if (isDevice && row.stream)
        key.thread = *row.stream;
    if (key == m_lastKey && !m_lanes.empty())
        return m_lastLane;
    const auto [found, isNew] = m_lanes.try_emplace(key, static_cast<LaneIndex>(m_work.lanes.size()));
    if (isNew) {
        WorkLane lane{ row.process, row.thread, {}, {}, {}, -1 };
        if (isDevice) {
            lane.device = static_cast<int>(std::clamp<std::int64_t>(key.process, -1, INT32_MAX));
            lane.stream = key.thread;
        }
        m_work.lanes.push_back(lane);
    }
    m_lastKey = key;
    return m_lastLane = found->second;
}

void EventRows::addSpan(const Row& row)
{
    const LaneIndex lane = laneOf(row, isOnDevice(row.kind));
    if (row.phase == "E") {
        auto& begun = m_begun[lane];
        if (begun.empty())
            return;
        WorkSpan& span = m_work.spans.edit(begun.back());
        begun.pop_back();
        std::int64_t duration = 0;
        if (!__builtin_sub_overflow(*row.timeNs, span.startNs, &duration))
            span.durationNs = std::max<std::int64_t>(duration, 0);
        return;
    }
    if (row.phase == "B")
        m_begun[lane].push_back(m_work.spans.size());
    WorkSpan span;
    span.startNs = *row.timeNs;
    span.durationNs = std::max<std::int64_t>(row.durationNs.value_or(0), 0);
    if (row.phase == "X" && row.durationNs.value_or(-1) < 0)
        ++m_work.unreadable;
    std::int64_t end = 0;
    if (__builtin_add_overflow(span.startNs, span.durationNs, &end)) {
        ++m_work.unreadable;
        return;
    }
    span.name = m_recording.strings.intern(row.name);
    span.lane = lane;
    span.kind = row.kind;
    span.correlation = identifierOf(row.correlation);
    span.external = identifierOf(row.external);
    const auto detailed = [&](auto& rows, auto&& detail) {
        span.detail = static_cast<std::uint32_t>(rows.size());
        rows.push_back(std::forward<decltype(detail)>(detail));
    };
    if (row.kind == WorkKind::Kernel) {
        KernelDetail kernel = row.kernel;
        std::int64_t bytes = 0;
        if (!__builtin_mul_overflow(std::max(row.given, row.got), scalarTypeBytes(row.element), &bytes)
            && bytes > 0)
            kernel.messageBytes = bytes;
        detailed(m_work.kernels, kernel);
    }
    if (row.kind == WorkKind::Copy || row.kind == WorkKind::Set)
        detailed(m_work.copies, CopyDetail{ row.bytes.value_or(-1) });
    else if (row.kind == WorkKind::Operator
        && (!row.shapes.empty() || !row.types.empty() || !row.values.empty() || row.sequence >= 0))
        detailed(m_work.operators,
            OperatorDetail{ m_recording.strings.intern(row.shapes), m_recording.strings.intern(row.types),
                m_recording.strings.intern(row.values), m_recording.strings.intern(row.strides), row.sequence,
                row.forwardThread });
    m_work.spans.push_back(span);
}

void EventRows::addMemory(const Row& row)
{
    MemoryReading reading;
    reading.timeNs = *row.timeNs;
    reading.address = static_cast<std::uint64_t>(row.address.value_or(0));
    reading.bytes = *row.bytes;
    reading.totalAllocatedBytes = row.allocated.value_or(-1);
    reading.totalReservedBytes = row.reserved.value_or(-1);
    reading.deviceType = static_cast<int>(std::clamp<std::int64_t>(row.deviceType.value_or(0), -1, 1'000));
    reading.device = static_cast<int>(std::clamp<std::int64_t>(row.deviceId.value_or(-1), -1, INT32_MAX));
    reading.lane = laneOf(row, false);
    if (row.name == "[OutOfMemory]")
        reading.kind = MemoryReading::Kind::OutOfMemory;
    m_work.memory.push_back(reading);
}

void EventRows::addFlow(const Row& row)
{
    const std::uint32_t id = identifierOf(row.id.value_or(0));
    if (row.timeNs && id != 0)
        m_work.flows.push_back({ *row.timeNs, row.process, row.thread, id, row.phase == "f" });
}

void EventRows::addName(const Row& row)
{
    if (row.sort && row.name == "process_sort_index")
        m_processSorts[row.process] = *row.sort;
    else if (row.sort && row.name == "thread_sort_index")
        m_threadSorts[{ row.process, row.thread, false }] = *row.sort;
    if (row.label.empty())
        return;
    if (row.name == "process_labels")
        m_processLabels[row.process] = m_recording.strings.intern(row.label);
    else if (row.name == "process_name")
        m_processNames[row.process] = m_recording.strings.intern(row.label);
    else if (row.name == "thread_name")
        m_threadNames[{ row.process, row.thread, false }] = m_recording.strings.intern(row.label);
}

void EventRows::addDevices(std::string_view value)
{
    json::document document;
    json::array devices;
    if (m_parser->parser.iterate(value.data(), value.size(), value.size() + kPadding).get(document)
        || document.get_array().get(devices))
        return;
    for (auto item : devices) {
        json::object object;
        if (item.get_object().get(object))
            return;
        WorkDevice device;
        for (auto field : object) {
            std::string_view key, text;
            json::value member;
            if (field.unescaped_key().get(key) || field.value().get(member))
                return;
            const auto number = integerIn(member);
            if (key == "id" && number)
                device.device = static_cast<int>(*number);
            else if (key == "name" && !member.get_string().get(text))
                device.name = text;
            else if (key == "totalGlobalMem" && number)
                device.totalBytes = *number;
            else if (key == "numSms" && number)
                device.multiprocessors = *number;
        }
        // As the simulated device calls itself where it is no card of the catalogue.
        m_recording.simulated = m_recording.simulated || device.name == "Strata simulated device";
        m_work.devices.push_back(std::move(device));
    }
}

void EventRows::addRank(std::string_view value)
{
    json::document document;
    json::object object;
    if (m_parser->parser.iterate(value.data(), value.size(), value.size() + kPadding).get(document)
        || document.get_object().get(object))
        return;
    for (auto field : object) {
        std::string_view key;
        json::value member;
        if (field.unescaped_key().get(key) || field.value().get(member))
            return;
        if (key == "rank")
            m_work.rank = integerIn(member);
        else if (key == "world_size")
            m_work.ranks = integerIn(member);
    }
}

void EventRows::addMember(std::string_view key, std::string_view value)
{
    if (key == "deviceProperties")
        addDevices(value);
    else if (key == "distributedInfo")
        addRank(value);
    else if (key == "baseTimeNanoseconds")
        m_baseNs = integerOf(value).value_or(0);
    else if (key == wire::settings::kSimulatedDevice && value.starts_with('{')) { // a dry run adds it
        m_recording.simulated = true;
        m_recording.settings.push_back({ std::string(key), std::string(value) });
    }
}

void EventRows::finish()
{
    m_work.simulated = m_recording.simulated;
    const auto textOf = [&](std::int64_t name) {
        const std::int64_t number = name - kNamed;
        return name < 0 && number >= 0 && number < static_cast<std::int64_t>(m_recording.strings.size())
            ? StringId{ static_cast<std::uint32_t>(number) }
            : StringId{};
    };
    for (WorkLane& lane : m_work.lanes) {
        const auto process = m_processNames.find(lane.process);
        const auto thread = m_threadNames.find({ lane.process, lane.thread, false });
        lane.processName = process != m_processNames.end() ? process->second : textOf(lane.process);
        lane.threadName = thread != m_threadNames.end() ? thread->second : textOf(lane.thread);
        if (const auto labels = m_processLabels.find(lane.process); labels != m_processLabels.end())
            lane.processLabels = labels->second;
        if (const auto sort = m_processSorts.find(lane.process); sort != m_processSorts.end())
            lane.processSort = sort->second;
        if (const auto sort = m_threadSorts.find({ lane.process, lane.thread, false });
            sort != m_threadSorts.end())
            lane.threadSort = sort->second;
        if (lane.device && textOf(lane.stream).valid()) { // "stream 7"
            const std::string_view text = m_recording.strings[textOf(lane.stream)];
            lane.stream = integerOf(text.substr(std::min(text.rfind(' ') + 1, text.size()))).value_or(-1);
        }
    }
    if (m_baseNs == 0)
        return;
    const auto move = [this](std::int64_t& timeNs, std::int64_t durationNs) {
        std::int64_t moved = 0, end = 0;
        if (!__builtin_add_overflow(timeNs, m_baseNs, &moved)
            && !__builtin_add_overflow(moved, durationNs, &end))
            timeNs = moved;
    };
    for (std::size_t i = 0; i < m_work.spans.size(); ++i) {
        WorkSpan& span = m_work.spans.edit(i);
        move(span.startNs, span.durationNs);
    }
    for (MemoryReading& reading : m_work.memory)
        move(reading.timeNs, 0);
    for (WorkFlow& flow : m_work.flows)
        move(flow.timeNs, 0);
}

} // namespace strata::model
