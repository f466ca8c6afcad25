// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/tables.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::wire {

/// What happens in a deep step: one step of a training in which every operator is seen, what autograd saves
/// for backward, and when the program lets go of a tensor.
enum class DeepKind : std::uint8_t {
    Operator = 0, ///< begins, with the tensors that it takes; `name`: "aten::addmm"
    Returns = 1, ///< the operator that began last and has not returned yet, with what it returns
    Gone = 2, ///< nobody has a tensor any more, but who saved it for backward
    Saved = 3, ///< for backward, under the number `saved`: a tensor, of `elements`
    Unpacked = 4, ///< backward has taken out what was saved: a tensor of its own, which is Gone in turn
    Released = 5, ///< nobody has what was saved any more
    Enters = 6, ///< the forward of a module begins, with the tensors that it takes; `name`: its path,
                ///< `detail`: its class
    Leaves = 7, ///< ... and ends, with what it returns
};
inline constexpr std::size_t kDeepKinds = 8;

/// A tensor that a deep step tells of.
struct DeepTensorRow {
    std::uint64_t address = 0; ///< of its storage, somewhere in a block; 0: it has no memory
    std::uint32_t type = kNone; ///< string: "c10::BFloat16"
    std::uint64_t offset = 0; ///< in its storage, in elements
    std::uint64_t elements = 0; ///< the tensor's own, the most it ever had; 0: not told, or none

    friend bool operator==(const DeepTensorRow&, const DeepTensorRow&) = default;
};

/// How the elements of a tensor that is saved lie.
enum class DeepLayout : std::uint8_t {
    NotTold = 0,
    InOrder = 1, ///< the last dimension first, without gaps: torch.Tensor.is_contiguous()
    Otherwise = 2, ///< as those of a transposed or an expanded one
};
inline constexpr std::size_t kDeepLayouts = 3;

struct DeepRow {
    DeepKind kind = DeepKind::Operator;
    std::uint32_t thread = 0; ///< as the operating system counts
    std::uint64_t event = 0; ///< how many events of the device came before
    std::uint32_t name = kNone, detail = kNone; ///< strings
    std::uint32_t saved = kNone; ///< of Saved, Unpacked, Released
    std::uint32_t tensors = 0; ///< how many, of DeepStepChunk::refs: those of the rows before come before
    DeepLayout layout = DeepLayout::NotTold; ///< of Saved
    std::uint64_t elements = 0; ///< of Saved, as the tensor counts them; where its layout is told

    friend bool operator==(const DeepRow&, const DeepRow&) = default;
};

/// A deep step, whole. Rows in the order in which they happened.
struct DeepStepChunk {
    std::int32_t device = 0;
    std::uint32_t unusable = kNone; ///< string: why it is not to be used, for people; kNone: it is
    std::uint64_t beginEvent = 0, endEvent = 0; ///< how many events of the device came before
    std::vector<DeepTensorRow> tensors;
    std::vector<DeepRow> rows;
    std::vector<std::uint32_t> refs; ///< rows of `tensors`

    friend bool operator==(const DeepStepChunk&, const DeepStepChunk&) = default;
};
void encodeDeepStep(const DeepStepChunk& chunk, Bytes& out);
/// Rows of kinds that this Strata does not know are there: whoever reads passes over them.
[[nodiscard]] bool decodeDeepStep(std::span<const std::byte> payload, DeepStepChunk& chunk);

} // namespace strata::wire
