// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/allocator_call_rows.h"

#include "capture/agent/counter_clock.h"
#include "model/wire/info.h"

#include <bit>
#include <string>

namespace strata::agent {

namespace {

/// What the text of a call says.
std::string valueOf(const EventRecord& record, std::string_view text)
{
    using Kind = wire::AllocatorCallKind;
    const auto kind = static_cast<Kind>(record.stackKind);
    switch (kind) {
    case Kind::Settings:
    case Kind::SettingsRefused:
        return std::string(text);
    case Kind::MemoryFraction:
        return wire::numberText(std::bit_cast<double>(record.bytes));
    case Kind::CaptureBegin:
    case Kind::CaptureEnd:
        return {};
    default:
        break;
    }
    if (kind == Kind::EmptyCache && record.poolOwner == 0 && record.poolId == 0)
        return {};
    return std::to_string(record.poolOwner) + "," + std::to_string(record.poolId);
}

} // namespace

void AllocatorCallRows::add(std::int32_t device, std::uint64_t event, const EventRecord& record,
    std::string_view text, std::int64_t timeNs, Numbers& numbers)
{
    const std::string value = valueOf(record, text);
    if (m_rows.empty())
        m_sinceNs = nowNs();
    m_rows.push_back({ device, event, static_cast<wire::AllocatorCallKind>(record.stackKind),
        value.empty() ? wire::kNone : numbers.string(value), timeNs });
}

void AllocatorCallRows::write(Numbers& numbers, wire::ChunkWriter& writer)
{
    if (m_rows.empty())
        return;
    numbers.write(writer);
    writer.chunk(
        wire::ChunkType::AllocatorCalls, [&](wire::Bytes& out) { wire::encodeAllocatorCalls(m_rows, out); });
    m_rows.clear();
}

} // namespace strata::agent
