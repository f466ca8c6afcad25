// SPDX-License-Identifier: Apache-2.0
// Rows lie by column, as those of work.
#include "model/wire/deep_step_codec.h"

#include "model/wire/coder.h"
#include "model/wire/step_head.h"

namespace strata::wire {

constexpr auto kDeepStepLayout = [](auto& coder, auto& chunk) {
    auto& tensors = chunk.tensors;
    auto& rows = chunk.rows;
    kStepHeadLayout(coder, chunk);
    coder.room(tensors, 2);
    coder.steps(tensors, &DeepTensorRow::address);
    coder.ids(tensors, &DeepTensorRow::type);
    coder.room(rows, 7);
    coder.codes(rows, &DeepRow::kind);
    coder.varints(rows, &DeepRow::thread);
    coder.steps(rows, &DeepRow::event, chunk.beginEvent);
    coder.ids(rows, &DeepRow::name, &DeepRow::detail, &DeepRow::saved);
    coder.varints(rows, &DeepRow::tensors);
    coder.room(chunk.refs, 1);
    coder.steps(chunk.refs, std::identity());
    std::uint64_t named = 0;
    for (const DeepRow& row : rows)
        named += row.tensors;
    coder.require(named == chunk.refs.size());
    for (const std::uint32_t ref : chunk.refs)
        coder.require(ref < tensors.size());
    if (!coder.more(true))
        return;
    for (auto& row : rows)
        if (row.kind == DeepKind::Saved)
            coder.codeOr(row.layout, kDeepLayouts, DeepLayout::NotTold);
    for (auto& row : rows)
        if (row.kind == DeepKind::Saved)
            coder.varint(row.elements);
    if (coder.more(true))
        coder.varints(tensors, &DeepTensorRow::offset, &DeepTensorRow::elements);
};

void encodeDeepStep(const DeepStepChunk& chunk, Bytes& out)
{
    encodeAs(kDeepStepLayout, out, chunk);
}

bool decodeDeepStep(std::span<const std::byte> payload, DeepStepChunk& chunk)
{
    return decodeAs(kDeepStepLayout, payload, chunk);
}

} // namespace strata::wire
