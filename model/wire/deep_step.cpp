// SPDX-License-Identifier: Apache-2.0
// Rows lie by column, as those of work.
#include "model/wire/deep_step.h"

#include <limits>

namespace strata::wire {

namespace {

template <class Number> bool narrow(std::uint64_t value, Number& to)
{
    to = static_cast<Number>(value);
    return value <= std::numeric_limits<Number>::max();
}

} // namespace

void encodeDeepStep(const DeepStepChunk& chunk, Bytes& out)
{
    ByteWriter writer(out);
    writer.signedVarint(chunk.device);
    writer.id(chunk.unusable);
    writer.varint(chunk.beginEvent);
    writer.varint(chunk.endEvent);
    writer.varint(chunk.tensors.size());
    std::uint64_t before = 0;
    for (const DeepTensorRow& tensor : chunk.tensors) {
        writer.signedVarint(static_cast<std::int64_t>(tensor.address - before));
        before = tensor.address;
    }
    for (const DeepTensorRow& tensor : chunk.tensors)
        writer.id(tensor.type);
    writer.varint(chunk.rows.size());
    for (const DeepRow& row : chunk.rows)
        writer.byte(static_cast<std::uint8_t>(row.kind));
    for (const DeepRow& row : chunk.rows)
        writer.varint(row.thread);
    before = chunk.beginEvent;
    for (const DeepRow& row : chunk.rows) {
        writer.signedVarint(static_cast<std::int64_t>(row.event - before));
        before = row.event;
    }
    for (const DeepRow& row : chunk.rows)
        writer.id(row.name);
    for (const DeepRow& row : chunk.rows)
        writer.id(row.detail);
    for (const DeepRow& row : chunk.rows)
        writer.id(row.saved);
    for (const DeepRow& row : chunk.rows)
        writer.varint(row.tensors);
    writer.varint(chunk.refs.size());
    before = 0;
    for (const std::uint32_t ref : chunk.refs) {
        writer.signedVarint(static_cast<std::int64_t>(ref) - static_cast<std::int64_t>(before));
        before = ref;
    }
}

bool decodeDeepStep(std::span<const std::byte> payload, DeepStepChunk& chunk)
{
    constexpr std::size_t kLeastTensorBytes = 2, kLeastBytes = 7; // a field each
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
    for (DeepTensorRow& tensor : chunk.tensors)
        tensor.address = now += static_cast<std::uint64_t>(in.signedVarint());
    for (DeepTensorRow& tensor : chunk.tensors)
        tensor.type = in.id();
    if (!count(kLeastBytes, chunk.rows))
        return false;
    for (DeepRow& row : chunk.rows)
        row.kind = static_cast<DeepKind>(in.byte());
    for (DeepRow& row : chunk.rows)
        fits = narrow(in.varint(), row.thread) && fits;
    now = chunk.beginEvent;
    for (DeepRow& row : chunk.rows)
        row.event = now += static_cast<std::uint64_t>(in.signedVarint());
    for (DeepRow& row : chunk.rows)
        row.name = in.id();
    for (DeepRow& row : chunk.rows)
        row.detail = in.id();
    for (DeepRow& row : chunk.rows)
        row.saved = in.id();
    std::uint64_t named = 0;
    for (DeepRow& row : chunk.rows) {
        fits = narrow(in.varint(), row.tensors) && fits;
        named += row.tensors;
    }
    if (!count(1, chunk.refs))
        return false;
    now = 0;
    for (std::uint32_t& ref : chunk.refs) {
        now += static_cast<std::uint64_t>(in.signedVarint());
        fits = narrow(now, ref) && ref < chunk.tensors.size() && fits;
    }
    return in.ok() && fits && named == chunk.refs.size();
}

} // namespace strata::wire
