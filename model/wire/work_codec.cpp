// SPDX-License-Identifier: Apache-2.0
// Rows lie by column: what is alike stands together, which the codec of chunks makes use of.
#include "model/wire/work_codec.h"

#include "model/wire/coder.h"

#include <map>

namespace strata::wire {

constexpr auto kDeviceWorkLayout = []<class Coder>(Coder& coder, auto& chunk) {
    coder.signedVarint(chunk.device);
    coder.rows(chunk.configs, 9, [&](auto& config) {
        coder.id(config.name);
        for (auto& extent : config.grid)
            coder.varint(extent);
        for (auto& extent : config.block)
            coder.varint(extent);
        coder.varint(config.registers, config.sharedBytes);
    });
    auto& rows = chunk.rows;
    std::int64_t first = rows.empty() ? 0 : rows.front().startNs;
    coder.signedVarint(first);
    coder.room(rows, 6); // only some have bytes
    coder.codes(rows, &DeviceWorkRow::kind);
    coder.ids(rows, &DeviceWorkRow::what);
    for (const DeviceWorkRow& row : rows)
        coder.require(row.kind != DeviceWorkKind::Kernel || row.what < chunk.configs.size());
    coder.varints(rows, &DeviceWorkRow::stream);
    // Starts are differences to where the row before in the stream ends: readers need the durations first.
    std::map<std::uint32_t, std::uint64_t> ends;
    const auto endOf = [&](std::uint32_t stream) -> std::uint64_t& {
        return ends.try_emplace(stream, static_cast<std::uint64_t>(first)).first->second;
    };
    for (auto& row : rows)
        if constexpr (Coder::kReads) {
            coder.signedVarint(row.startNs);
        } else {
            std::uint64_t& end = endOf(row.stream);
            coder.step(row.startNs, end);
            end += static_cast<std::uint64_t>(row.durationNs);
        }
    coder.varints(rows, &DeviceWorkRow::durationNs);
    if constexpr (Coder::kReads)
        for (DeviceWorkRow& row : rows) {
            std::uint64_t& end = endOf(row.stream);
            end += static_cast<std::uint64_t>(row.startNs);
            row.startNs = static_cast<std::int64_t>(end);
            end += static_cast<std::uint64_t>(row.durationNs);
        }
    for (auto& row : rows)
        if (row.kind != DeviceWorkKind::Kernel)
            coder.varint(row.bytes);
    coder.steps(rows, &DeviceWorkRow::correlation);
    coder.dropUnknown(rows, &DeviceWorkRow::kind, kDeviceWorkKinds);
};

void encodeDeviceWork(const DeviceWorkChunk& chunk, Bytes& out)
{
    encodeAs(kDeviceWorkLayout, out, chunk);
}

bool decodeDeviceWork(std::span<const std::byte> payload, DeviceWorkChunk& chunk)
{
    return decodeAs(kDeviceWorkLayout, payload, chunk);
}

constexpr auto kWorkCallsLayout = [](auto& coder, auto& rows) {
    coder.room(rows, 6);
    coder.codes(rows, &WorkCallRow::kind);
    coder.ids(rows, &WorkCallRow::name);
    coder.varints(rows, &WorkCallRow::thread);
    coder.steps(rows, &WorkCallRow::startNs);
    coder.varints(rows, &WorkCallRow::durationNs);
    coder.steps(rows, &WorkCallRow::correlation);
    coder.dropUnknown(rows, &WorkCallRow::kind, kWorkCallKinds);
};

void encodeWorkCalls(std::span<const WorkCallRow> rows, Bytes& out)
{
    encodeAs(kWorkCallsLayout, out, rows);
}

bool decodeWorkCalls(std::span<const std::byte> payload, std::vector<WorkCallRow>& rows)
{
    return decodeAs(kWorkCallsLayout, payload, rows);
}

constexpr auto kOperatorsLayout = [](auto& coder, auto& chunk) {
    coder.rows(chunk.calls, 5,
        [&](auto& call) { coder.id(call.name, call.shapes, call.types, call.values, call.strides); });
    auto& rows = chunk.rows;
    coder.room(rows, 5);
    coder.varints(rows, &OperatorRow::call, &OperatorRow::thread);
    for (const OperatorRow& row : rows)
        coder.require(row.call < chunk.calls.size());
    coder.steps(rows, &OperatorRow::startNs);
    coder.varints(rows, &OperatorRow::durationNs);
    coder.steps(rows, &OperatorRow::sequence);
};

void encodeOperators(const OperatorChunk& chunk, Bytes& out)
{
    encodeAs(kOperatorsLayout, out, chunk);
}

bool decodeOperators(std::span<const std::byte> payload, OperatorChunk& chunk)
{
    return decodeAs(kOperatorsLayout, payload, chunk);
}

constexpr auto kWorkWaitsLayout = [](auto& coder, auto& rows) {
    coder.room(rows, 6);
    coder.ids(rows, &WorkWaitRow::name);
    coder.signedVarints(rows, &WorkWaitRow::device);
    coder.signedVarints(rows, &WorkWaitRow::stream);
    coder.steps(rows, &WorkWaitRow::startNs);
    coder.varints(rows, &WorkWaitRow::durationNs);
    coder.steps(rows, &WorkWaitRow::correlation);
};

void encodeWorkWaits(std::span<const WorkWaitRow> rows, Bytes& out)
{
    encodeAs(kWorkWaitsLayout, out, rows);
}

bool decodeWorkWaits(std::span<const std::byte> payload, std::vector<WorkWaitRow>& rows)
{
    return decodeAs(kWorkWaitsLayout, payload, rows);
}

constexpr auto kDriverAllocationsLayout = []<class Coder>(Coder& coder, auto& rows) {
    coder.room(rows, 7);
    [[maybe_unused]] Coder operations = coder; // a bool has no place for those that are not known here
    for (auto& row : rows)
        coder.flag(row.isRelease);
    for (auto& row : rows)
        coder.codeOr(row.kind, kDriverMemoryKinds, DriverMemoryKind::Unknown);
    coder.signedVarints(rows, &DriverAllocationRow::device);
    coder.steps(rows, &DriverAllocationRow::address);
    coder.varints(rows, &DriverAllocationRow::bytes);
    coder.steps(rows, &DriverAllocationRow::timeNs);
    coder.steps(rows, &DriverAllocationRow::correlation);
    if constexpr (Coder::kReads)
        std::erase_if(rows, [&](const DriverAllocationRow&) {
            std::uint8_t operation = 0;
            operations.code(operation);
            return operation > 1;
        });
};

void encodeDriverAllocations(std::span<const DriverAllocationRow> rows, Bytes& out)
{
    encodeAs(kDriverAllocationsLayout, out, rows);
}

bool decodeDriverAllocations(std::span<const std::byte> payload, std::vector<DriverAllocationRow>& rows)
{
    return decodeAs(kDriverAllocationsLayout, payload, rows);
}

constexpr auto kWorkLossesLayout = [](auto& coder, auto& rows) {
    coder.rows(rows, 3, [&](auto& row) {
        coder.code(row.why);
        coder.signedVarint(row.timeNs);
        coder.varint(row.count);
    });
    coder.dropUnknown(rows, &WorkLossRow::why, kWorkLosses);
};

void encodeWorkLosses(std::span<const WorkLossRow> rows, Bytes& out)
{
    encodeAs(kWorkLossesLayout, out, rows);
}

bool decodeWorkLosses(std::span<const std::byte> payload, std::vector<WorkLossRow>& rows)
{
    return decodeAs(kWorkLossesLayout, payload, rows);
}

} // namespace strata::wire
