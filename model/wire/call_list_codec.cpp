// SPDX-License-Identifier: Apache-2.0
// Rows lie by column, as those of a deep step.
#include "model/wire/call_list_codec.h"

#include "model/wire/step_columns.h"

namespace strata::wire {

void encodeCallList(const CallListChunk& chunk, Bytes& out)
{
    ByteWriter writer(out);
    writeStep(writer, chunk);
    writer.varint(chunk.tensors.size());
    writeDifferences(writer, chunk.tensors, 0, [](const CallTensorRow& tensor) { return tensor.address; });
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
    writeDifferences(writer, chunk.rows, chunk.beginEvent, [](const CallRow& row) { return row.event; });
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
    writeDifferences(writer, chunk.refs, 0, [](std::uint32_t ref) { return ref; });
}

bool decodeCallList(std::span<const std::byte> payload, CallListChunk& chunk)
{
    constexpr std::size_t kLeastTensorBytes = 5, kLeastBytes = 7; // a field each
    ByteReader in(payload);
    bool fits = readStep(in, chunk);
    if (!readCount(in, kLeastTensorBytes, chunk.tensors))
        return false;
    readDifferences(
        in, chunk.tensors, 0, [](CallTensorRow& tensor, std::uint64_t address) { tensor.address = address; });
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
    if (!readCount(in, 1, chunk.lengths))
        return false;
    fits = fits && lengths == chunk.lengths.size();
    for (std::int64_t& length : chunk.lengths)
        length = in.signedVarint();
    if (!readCount(in, kLeastBytes, chunk.rows))
        return false;
    for (CallRow& row : chunk.rows)
        row.kind = static_cast<CallKind>(in.byte());
    readDifferences(
        in, chunk.rows, chunk.beginEvent, [](CallRow& row, std::uint64_t event) { row.event = event; });
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
    if (!readCount(in, 1, chunk.refs))
        return false;
    readDifferences(in, chunk.refs, 0, [&](std::uint32_t& ref, std::uint64_t number) {
        fits = narrow(number, ref) && ref / 2 < chunk.tensors.size() && fits;
    });
    return in.ok() && fits && named == chunk.refs.size();
}

} // namespace strata::wire
