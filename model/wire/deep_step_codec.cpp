// SPDX-License-Identifier: Apache-2.0
// Rows lie by column, as those of work.
#include "model/wire/deep_step_codec.h"

#include "model/wire/step_columns.h"

namespace strata::wire {

void encodeDeepStep(const DeepStepChunk& chunk, Bytes& out)
{
    ByteWriter writer(out);
    writeStep(writer, chunk);
    writer.varint(chunk.tensors.size());
    writeDifferences(writer, chunk.tensors, 0, [](const DeepTensorRow& tensor) { return tensor.address; });
    for (const DeepTensorRow& tensor : chunk.tensors)
        writer.id(tensor.type);
    writer.varint(chunk.rows.size());
    for (const DeepRow& row : chunk.rows)
        writer.byte(static_cast<std::uint8_t>(row.kind));
    for (const DeepRow& row : chunk.rows)
        writer.varint(row.thread);
    writeDifferences(writer, chunk.rows, chunk.beginEvent, [](const DeepRow& row) { return row.event; });
    for (const DeepRow& row : chunk.rows)
        writer.id(row.name);
    for (const DeepRow& row : chunk.rows)
        writer.id(row.detail);
    for (const DeepRow& row : chunk.rows)
        writer.id(row.saved);
    for (const DeepRow& row : chunk.rows)
        writer.varint(row.tensors);
    writer.varint(chunk.refs.size());
    writeDifferences(writer, chunk.refs, 0, [](std::uint32_t ref) { return ref; });
    for (const DeepRow& row : chunk.rows)
        if (row.kind == DeepKind::Saved)
            writer.byte(static_cast<std::uint8_t>(row.layout));
    for (const DeepRow& row : chunk.rows)
        if (row.kind == DeepKind::Saved)
            writer.varint(row.elements);
}

bool decodeDeepStep(std::span<const std::byte> payload, DeepStepChunk& chunk)
{
    constexpr std::size_t kLeastTensorBytes = 2, kLeastBytes = 7; // a field each
    ByteReader in(payload);
    bool fits = readStep(in, chunk);
    if (!readCount(in, kLeastTensorBytes, chunk.tensors))
        return false;
    readDifferences(
        in, chunk.tensors, 0, [](DeepTensorRow& tensor, std::uint64_t address) { tensor.address = address; });
    for (DeepTensorRow& tensor : chunk.tensors)
        tensor.type = in.id();
    if (!readCount(in, kLeastBytes, chunk.rows))
        return false;
    for (DeepRow& row : chunk.rows)
        row.kind = static_cast<DeepKind>(in.byte());
    for (DeepRow& row : chunk.rows)
        fits = narrow(in.varint(), row.thread) && fits;
    readDifferences(
        in, chunk.rows, chunk.beginEvent, [](DeepRow& row, std::uint64_t event) { row.event = event; });
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
    if (!readCount(in, 1, chunk.refs))
        return false;
    readDifferences(in, chunk.refs, 0, [&](std::uint32_t& ref, std::uint64_t number) {
        fits = narrow(number, ref) && ref < chunk.tensors.size() && fits;
    });
    if (!in.ok() || in.atEnd()) // an earlier Strata did not tell more
        return in.ok() && fits && named == chunk.refs.size();
    for (DeepRow& row : chunk.rows)
        if (row.kind == DeepKind::Saved)
            if (const std::uint8_t layout = in.byte(); layout <= 2)
                row.layout = static_cast<DeepLayout>(layout);
    for (DeepRow& row : chunk.rows)
        if (row.kind == DeepKind::Saved)
            row.elements = in.varint();
    return in.ok() && fits && named == chunk.refs.size();
}

} // namespace strata::wire
