// SPDX-License-Identifier: Apache-2.0
// Rows lie by column: what is alike stands together, which the codec of chunks makes use of.
#include "model/wire/work_codec.h"

#include "model/wire/tables.h"

#include <map>

namespace strata::wire {

namespace {

/// A count and, where it can be, room for its rows.
template <class Row> bool readCount(ByteReader& in, std::size_t leastBytes, std::vector<Row>& rows)
{
    const std::size_t count = in.count(leastBytes);
    rows.clear();
    if (!in.ok() || count > kMaxRowsAChunk)
        return false;
    rows.resize(count);
    return true;
}

bool narrow(std::uint64_t value, std::uint32_t& to)
{
    to = static_cast<std::uint32_t>(value);
    return value <= UINT32_MAX;
}

bool narrow(std::int64_t value, std::int32_t& to)
{
    to = static_cast<std::int32_t>(value);
    return value >= INT32_MIN && value <= INT32_MAX;
}

/// Each as the difference to the one before.
template <class Row, class Field> void writeSteps(ByteWriter& writer, std::span<const Row> rows, Field field)
{
    std::uint64_t before = 0;
    for (const Row& row : rows) {
        const auto now = static_cast<std::uint64_t>(row.*field);
        writer.signedVarint(static_cast<std::int64_t>(now - before));
        before = now;
    }
}

template <class Row> void readSteps(ByteReader& in, std::vector<Row>& rows, std::int64_t Row::*field)
{
    std::uint64_t now = 0;
    for (Row& row : rows) {
        now += static_cast<std::uint64_t>(in.signedVarint());
        row.*field = static_cast<std::int64_t>(now);
    }
}

template <class Row> bool readSteps(ByteReader& in, std::vector<Row>& rows, std::uint32_t Row::*field)
{
    std::uint64_t now = 0;
    bool fits = true;
    for (Row& row : rows) {
        now += static_cast<std::uint64_t>(in.signedVarint());
        fits = narrow(now, row.*field) && fits;
    }
    return fits;
}

template <class Row> bool readDurations(ByteReader& in, std::vector<Row>& rows)
{
    bool fits = true;
    for (Row& row : rows) {
        row.durationNs = static_cast<std::int64_t>(in.varint());
        fits = row.durationNs >= 0 && fits;
    }
    return fits;
}

} // namespace

void encodeDeviceWork(const DeviceWorkChunk& chunk, Bytes& out)
{
    ByteWriter writer(out);
    writer.signedVarint(chunk.device);
    writer.varint(chunk.configs.size());
    for (const LaunchConfigRow& config : chunk.configs) {
        writer.id(config.name);
        for (const std::uint32_t extent : config.grid)
            writer.varint(extent);
        for (const std::uint32_t extent : config.block)
            writer.varint(extent);
        writer.varint(config.registers);
        writer.varint(config.sharedBytes);
    }
    const std::span rows(chunk.rows);
    const std::int64_t first = rows.empty() ? 0 : rows.front().startNs;
    writer.signedVarint(first);
    writer.varint(rows.size());
    for (const DeviceWorkRow& row : rows)
        writer.byte(static_cast<std::uint8_t>(row.kind));
    for (const DeviceWorkRow& row : rows)
        writer.id(row.what);
    for (const DeviceWorkRow& row : rows)
        writer.varint(row.stream);
    std::map<std::uint32_t, std::uint64_t> ends;
    for (const DeviceWorkRow& row : rows) {
        std::uint64_t& end = ends.try_emplace(row.stream, static_cast<std::uint64_t>(first)).first->second;
        const auto start = static_cast<std::uint64_t>(row.startNs);
        writer.signedVarint(static_cast<std::int64_t>(start - end));
        end = start + static_cast<std::uint64_t>(row.durationNs);
    }
    for (const DeviceWorkRow& row : rows)
        writer.varint(static_cast<std::uint64_t>(row.durationNs));
    for (const DeviceWorkRow& row : rows)
        if (row.kind != DeviceWorkKind::Kernel)
            writer.varint(row.bytes);
    writeSteps(writer, rows, &DeviceWorkRow::correlation);
}

bool decodeDeviceWork(std::span<const std::byte> payload, DeviceWorkChunk& chunk)
{
    constexpr std::size_t kLeastConfigBytes = 9, kLeastBytes = 6; // a field each, but that of bytes
    ByteReader in(payload);
    bool fits = narrow(in.signedVarint(), chunk.device);
    if (!readCount(in, kLeastConfigBytes, chunk.configs))
        return false;
    for (LaunchConfigRow& config : chunk.configs) {
        config.name = in.id();
        for (std::uint32_t& extent : config.grid)
            fits = narrow(in.varint(), extent) && fits;
        for (std::uint32_t& extent : config.block)
            fits = narrow(in.varint(), extent) && fits;
        fits = narrow(in.varint(), config.registers) && fits;
        config.sharedBytes = in.varint();
    }
    const std::int64_t first = in.signedVarint();
    std::vector<DeviceWorkRow>& rows = chunk.rows;
    if (!readCount(in, kLeastBytes, rows))
        return false;
    for (DeviceWorkRow& row : rows)
        row.kind = static_cast<DeviceWorkKind>(in.byte());
    for (DeviceWorkRow& row : rows) {
        row.what = in.id();
        fits = (row.kind != DeviceWorkKind::Kernel || row.what < chunk.configs.size()) && fits;
    }
    for (DeviceWorkRow& row : rows)
        fits = narrow(in.varint(), row.stream) && fits;
    for (DeviceWorkRow& row : rows)
        row.startNs = in.signedVarint();
    fits = readDurations(in, rows) && fits;
    std::map<std::uint32_t, std::uint64_t> ends;
    for (DeviceWorkRow& row : rows) {
        std::uint64_t& end = ends.try_emplace(row.stream, static_cast<std::uint64_t>(first)).first->second;
        const std::uint64_t start = end + static_cast<std::uint64_t>(row.startNs);
        row.startNs = static_cast<std::int64_t>(start);
        end = start + static_cast<std::uint64_t>(row.durationNs);
    }
    for (DeviceWorkRow& row : rows)
        if (row.kind != DeviceWorkKind::Kernel)
            row.bytes = in.varint();
    fits = readSteps(in, rows, &DeviceWorkRow::correlation) && fits;
    std::erase_if(rows,
        [](const DeviceWorkRow& row) { return static_cast<std::size_t>(row.kind) >= kDeviceWorkKinds; });
    return in.ok() && fits;
}

void encodeWorkCalls(std::span<const WorkCallRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    for (const WorkCallRow& row : rows)
        writer.byte(static_cast<std::uint8_t>(row.kind));
    for (const WorkCallRow& row : rows)
        writer.id(row.name);
    for (const WorkCallRow& row : rows)
        writer.varint(row.thread);
    writeSteps(writer, rows, &WorkCallRow::startNs);
    for (const WorkCallRow& row : rows)
        writer.varint(static_cast<std::uint64_t>(row.durationNs));
    writeSteps(writer, rows, &WorkCallRow::correlation);
}

bool decodeWorkCalls(std::span<const std::byte> payload, std::vector<WorkCallRow>& rows)
{
    constexpr std::size_t kLeastBytes = 6;
    ByteReader in(payload);
    if (!readCount(in, kLeastBytes, rows))
        return false;
    for (WorkCallRow& row : rows)
        row.kind = static_cast<WorkCallKind>(in.byte());
    for (WorkCallRow& row : rows)
        row.name = in.id();
    bool fits = true;
    for (WorkCallRow& row : rows)
        fits = narrow(in.varint(), row.thread) && fits;
    readSteps(in, rows, &WorkCallRow::startNs);
    fits = readDurations(in, rows) && fits;
    fits = readSteps(in, rows, &WorkCallRow::correlation) && fits;
    std::erase_if(
        rows, [](const WorkCallRow& row) { return static_cast<std::size_t>(row.kind) >= kWorkCallKinds; });
    return in.ok() && fits;
}

void encodeOperators(const OperatorChunk& chunk, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(chunk.calls.size());
    for (const OperatorCallRow& call : chunk.calls)
        for (const std::uint32_t text : { call.name, call.shapes, call.types, call.values, call.strides })
            writer.id(text);
    const std::span rows(chunk.rows);
    writer.varint(rows.size());
    for (const OperatorRow& row : rows)
        writer.varint(row.call);
    for (const OperatorRow& row : rows)
        writer.varint(row.thread);
    writeSteps(writer, rows, &OperatorRow::startNs);
    for (const OperatorRow& row : rows)
        writer.varint(static_cast<std::uint64_t>(row.durationNs));
    writeSteps(writer, rows, &OperatorRow::sequence);
}

bool decodeOperators(std::span<const std::byte> payload, OperatorChunk& chunk)
{
    constexpr std::size_t kLeastCallBytes = 5, kLeastBytes = 5; // a field each
    ByteReader in(payload);
    if (!readCount(in, kLeastCallBytes, chunk.calls))
        return false;
    for (OperatorCallRow& call : chunk.calls)
        for (std::uint32_t* text : { &call.name, &call.shapes, &call.types, &call.values, &call.strides })
            *text = in.id();
    std::vector<OperatorRow>& rows = chunk.rows;
    if (!readCount(in, kLeastBytes, rows))
        return false;
    bool fits = true;
    for (OperatorRow& row : rows)
        fits = narrow(in.varint(), row.call) && row.call < chunk.calls.size() && fits;
    for (OperatorRow& row : rows)
        fits = narrow(in.varint(), row.thread) && fits;
    readSteps(in, rows, &OperatorRow::startNs);
    fits = readDurations(in, rows) && fits;
    readSteps(in, rows, &OperatorRow::sequence);
    return in.ok() && fits;
}

void encodeWorkWaits(std::span<const WorkWaitRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    for (const WorkWaitRow& row : rows)
        writer.id(row.name);
    for (const WorkWaitRow& row : rows)
        writer.signedVarint(row.device);
    for (const WorkWaitRow& row : rows)
        writer.signedVarint(row.stream);
    writeSteps(writer, rows, &WorkWaitRow::startNs);
    for (const WorkWaitRow& row : rows)
        writer.varint(static_cast<std::uint64_t>(row.durationNs));
    writeSteps(writer, rows, &WorkWaitRow::correlation);
}

bool decodeWorkWaits(std::span<const std::byte> payload, std::vector<WorkWaitRow>& rows)
{
    constexpr std::size_t kLeastBytes = 6;
    ByteReader in(payload);
    if (!readCount(in, kLeastBytes, rows))
        return false;
    for (WorkWaitRow& row : rows)
        row.name = in.id();
    bool fits = true;
    for (WorkWaitRow& row : rows)
        fits = narrow(in.signedVarint(), row.device) && fits;
    for (WorkWaitRow& row : rows)
        row.stream = in.signedVarint();
    readSteps(in, rows, &WorkWaitRow::startNs);
    fits = readDurations(in, rows) && fits;
    fits = readSteps(in, rows, &WorkWaitRow::correlation) && fits;
    return in.ok() && fits;
}

void encodeDriverAllocations(std::span<const DriverAllocationRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    for (const DriverAllocationRow& row : rows)
        writer.byte(row.isRelease ? 1 : 0);
    for (const DriverAllocationRow& row : rows)
        writer.byte(static_cast<std::uint8_t>(row.kind));
    for (const DriverAllocationRow& row : rows)
        writer.signedVarint(row.device);
    writeSteps(writer, rows, &DriverAllocationRow::address);
    for (const DriverAllocationRow& row : rows)
        writer.varint(row.bytes);
    writeSteps(writer, rows, &DriverAllocationRow::timeNs);
    writeSteps(writer, rows, &DriverAllocationRow::correlation);
}

bool decodeDriverAllocations(std::span<const std::byte> payload, std::vector<DriverAllocationRow>& rows)
{
    constexpr std::size_t kLeastBytes = 7;
    constexpr std::uint8_t kRelease = 1;
    ByteReader in(payload);
    if (!readCount(in, kLeastBytes, rows))
        return false;
    bool fits = true;
    std::vector<std::uint8_t> operations;
    for (std::size_t i = 0; i < rows.size(); ++i)
        operations.push_back(in.byte());
    for (DriverAllocationRow& row : rows) {
        const std::uint8_t kind = in.byte();
        row.kind
            = kind < kDriverMemoryKinds ? static_cast<DriverMemoryKind>(kind) : DriverMemoryKind::Unknown;
    }
    for (DriverAllocationRow& row : rows)
        fits = narrow(in.signedVarint(), row.device) && fits;
    std::uint64_t address = 0;
    for (DriverAllocationRow& row : rows)
        row.address = address += static_cast<std::uint64_t>(in.signedVarint());
    for (DriverAllocationRow& row : rows)
        row.bytes = in.varint();
    readSteps(in, rows, &DriverAllocationRow::timeNs);
    fits = readSteps(in, rows, &DriverAllocationRow::correlation) && fits;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (operations[i] > kRelease)
            continue;
        rows[kept] = rows[i];
        rows[kept++].isRelease = operations[i] == kRelease;
    }
    rows.resize(kept);
    return in.ok() && fits;
}

void encodeWorkLosses(std::span<const WorkLossRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    for (const WorkLossRow& row : rows) {
        writer.byte(static_cast<std::uint8_t>(row.why));
        writer.signedVarint(row.timeNs);
        writer.varint(row.count);
    }
}

bool decodeWorkLosses(std::span<const std::byte> payload, std::vector<WorkLossRow>& rows)
{
    constexpr std::size_t kLeastBytes = 3;
    ByteReader in(payload);
    if (!readCount(in, kLeastBytes, rows))
        return false;
    for (WorkLossRow& row : rows) {
        row.why = static_cast<WorkLoss>(in.byte());
        row.timeNs = in.signedVarint();
        row.count = in.varint();
    }
    std::erase_if(
        rows, [](const WorkLossRow& row) { return static_cast<std::size_t>(row.why) >= kWorkLosses; });
    return in.ok();
}

} // namespace strata::wire
