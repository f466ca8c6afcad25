// SPDX-License-Identifier: Apache-2.0
// Rows lie by column, as those of a deep step.
#include "model/wire/call_list_codec.h"

#include "model/wire/coder.h"
#include "model/wire/step_head.h"

namespace strata::wire {

constexpr auto kCallListLayout = [](auto& coder, auto& chunk) {
    auto& tensors = chunk.tensors;
    auto& rows = chunk.rows;
    kStepHeadLayout(coder, chunk);
    coder.room(tensors, 5);
    coder.steps(tensors, &CallTensorRow::address);
    coder.ids(tensors, &CallTensorRow::type);
    coder.signedVarints(tensors, &CallTensorRow::offset);
    coder.ids(tensors, &CallTensorRow::gradientOf);
    coder.varints(tensors, &CallTensorRow::dimensions);
    coder.room(chunk.lengths, 1);
    coder.signedVarints(chunk.lengths, std::identity());
    coder.room(rows, 7);
    coder.codes(rows, &CallRow::kind);
    coder.steps(rows, &CallRow::event, chunk.beginEvent);
    for (auto& row : rows)
        coder.anyFlag(row.gradients);
    coder.ids(rows, &CallRow::name, &CallRow::detail);
    coder.varints(rows, &CallRow::takes, &CallRow::returns);
    coder.room(chunk.refs, 1);
    coder.steps(chunk.refs, std::identity());

    std::uint64_t lengths = 0, refs = 0;
    for (const CallTensorRow& tensor : tensors) {
        coder.require(tensor.gradientOf == kNone || tensor.gradientOf < tensors.size());
        lengths += 2 * std::uint64_t{ tensor.dimensions };
    }
    for (const CallRow& row : rows)
        refs += std::uint64_t{ row.takes } + row.returns;
    coder.require(lengths == chunk.lengths.size() && refs == chunk.refs.size());
    for (const std::uint32_t ref : chunk.refs)
        coder.require(ref / 2 < tensors.size());
};

void encodeCallList(const CallListChunk& chunk, Bytes& out)
{
    encodeAs(kCallListLayout, out, chunk);
}

bool decodeCallList(std::span<const std::byte> payload, CallListChunk& chunk)
{
    return decodeAs(kCallListLayout, payload, chunk);
}

} // namespace strata::wire
