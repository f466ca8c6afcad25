// SPDX-License-Identifier: Apache-2.0
// Rows lie by column, as those of a deep step.
#include "model/wire/call_list.h"

#include <limits>

namespace strata::wire {

namespace {

template <class Number> bool narrow(std::uint64_t value, Number& to)
{
    to = static_cast<Number>(value);
    return value <= std::numeric_limits<Number>::max();
}

} // namespace

void encodeCallList(const CallListChunk& chunk, Bytes& out)
{
    ByteWriter writer(out);
    writer.signedVarint(chunk.device);
    writer.id(chunk.unusable);
    writer.varint(chunk.beginEvent);
    writer.varint(chunk.endEvent);
    writer.varint(chunk.tensors.size());
    std::uint64_t before = 0;
    for (const CallTensorRow& tensor : chunk.tensors) {
        writer.signedVarint(static_cast<std::int64_t>(tensor.address - before));
        before = tensor.address;
    }
    for (const CallTensorRow& tensor : chunk.tensors)
        writer.id(tensor.type);
    for (const CallTensorRow& tensor : chunk.tensors)
        writer.signedVarint(tensor.offset);
    for (const CallTensorRow& tensor : chunk.tensors)
        writer.id(tensor.gradientOf);
    for (const CallTensorRow& tensor : chunk.tensors)
        writer.varint(tensor.dimensions);
    writer.varint(chunk.lengths.size());
    for (const std::int64_t length : chunk.lengths)
        writer.signedVarint(length);
    writer.varint(chunk.rows.size());
    for (const CallRow& row : chunk.rows)
        writer.byte(static_cast<std::uint8_t>(row.kind));
    before = chunk.beginEvent;
    for (const CallRow& row : chunk.rows) {
        writer.signedVarint(static_cast<std::int64_t>(row.event - before));
        before = row.event;
    }
    for (const CallRow& row : chunk.rows)
        writer.byte(row.gradients ? 1 : 0);
    for (const CallRow& row : chunk.rows)
        writer.id(row.name);
    for (const CallRow& row : chunk.rows)
        writer.id(row.detail);
    for (const CallRow& row : chunk.rows)
        writer.varint(row.takes);
    for (const CallRow& row : chunk.rows)
        writer.varint(row.returns);
    writer.varint(chunk.refs.size());
    before = 0;
    for (const std::uint32_t ref : chunk.refs) {
        writer.signedVarint(static_cast<std::int64_t>(ref) - static_cast<std::int64_t>(before));
        before = ref;
    }
}

bool decodeCallList(std::span<const std::byte> payload, CallListChunk& chunk)
{
    constexpr std::size_t kLeastTensorBytes = 5, kLeastBytes = 7; // a field each
    ByteReader in(payload);
    const auto count = [&](std::size_t leastBytes, auto& rows) {
        const std::size_t found = in.count(leastBytes);
        rows.clear();
        if (!in.ok() || found > kMaxRowsAChunk)
            return false;
        rows.resize(found);
        return true;
    };
    const std::int64_t device = in.signedVarint();
    bool fits = device >= std::numeric_limits<std::int32_t>::min()
        && device <= std::numeric_limits<std::int32_t>::max();
    chunk.device = static_cast<std::int32_t>(device);
    chunk.unusable = in.id();
    chunk.beginEvent = in.varint();
    chunk.endEvent = in.varint();
    if (!count(kLeastTensorBytes, chunk.tensors))
        return false;
    std::uint64_t now = 0;
    for (CallTensorRow& tensor : chunk.tensors)
        tensor.address = now += static_cast<std::uint64_t>(in.signedVarint());
    for (CallTensorRow& tensor : chunk.tensors)
        tensor.type = in.id();
    for (CallTensorRow& tensor : chunk.tensors)
        tensor.offset = in.signedVarint();
    for (CallTensorRow& tensor : chunk.tensors) {
        tensor.gradientOf = in.id();
        fits = fits && (tensor.gradientOf == kNone || tensor.gradientOf < chunk.tensors.size());
    }
    std::uint64_t lengths = 0;
    for (CallTensorRow& tensor : chunk.tensors) {
        fits = narrow(in.varint(), tensor.dimensions) && fits;
        lengths += 2 * std::uint64_t{ tensor.dimensions };
    }
    if (!count(1, chunk.lengths))
        return false;
    fits = fits && lengths == chunk.lengths.size();
    for (std::int64_t& length : chunk.lengths)
        length = in.signedVarint();
    if (!count(kLeastBytes, chunk.rows))
        return false;
    for (CallRow& row : chunk.rows)
        row.kind = static_cast<CallKind>(in.byte());
    now = chunk.beginEvent;
    for (CallRow& row : chunk.rows)
        row.event = now += static_cast<std::uint64_t>(in.signedVarint());
    for (CallRow& row : chunk.rows)
        row.gradients = in.byte() != 0;
    for (CallRow& row : chunk.rows)
        row.name = in.id();
    for (CallRow& row : chunk.rows)
        row.detail = in.id();
    std::uint64_t named = 0;
    for (std::uint32_t CallRow::*const field : { &CallRow::takes, &CallRow::returns })
        for (CallRow& row : chunk.rows) {
            fits = narrow(in.varint(), row.*field) && fits;
            named += row.*field;
        }
    if (!count(1, chunk.refs))
        return false;
    now = 0;
    for (std::uint32_t& ref : chunk.refs) {
        now += static_cast<std::uint64_t>(in.signedVarint());
        fits = narrow(now, ref) && ref / 2 < chunk.tensors.size() && fits;
    }
    return in.ok() && fits && named == chunk.refs.size();
}

} // namespace strata::wire
