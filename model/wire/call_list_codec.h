// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/tables.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::wire {

/// What the program itself does in a deep step, as far as it takes GPU memory to do it again: which operators
/// it calls, where it lets go of what they return, where it goes backward. What operators call beneath, and
/// what autograd and autocast add, is none of it.
enum class CallKind : std::uint8_t {
    Call = 0, ///< an operator: `name`: "aten::add.Tensor", `detail`: its arguments
    Gone = 1, ///< nobody has a tensor any more, but who saved it for backward
    Enters = 2, ///< the forward of a module begins; `name`: its path, `detail`: its class
    Leaves = 3, ///< ... and ends
    Backward = 4, ///< autograd begins: takes roots, then their gradients; `detail`: how, as a JSON object
    BackwardEnds = 5, ///< ... and has ended, with the gradients that it returns, if it was asked to
    Autocast = 6, ///< a range of autocast begins; `name`: its type, "c10::BFloat16"; `detail`: what is not as
                  ///< usual: "off" or "no cache"
    AutocastEnds = 7,
    Known = 8, ///< before anything else, tensors of the optimizer that steps first: `name` "parameter",
               ///< "gradient" or "state"; of a gradient and a state the parameter, then the tensor
};
inline constexpr std::size_t kCallKinds = 9;

/// A tensor of a call list. What a row returns is that of the row; any other was there before, or is a view
/// of what was, or the gradient of one.
struct CallTensorRow {
    std::uint64_t address = 0; ///< of its storage; 0: it has no memory
    std::uint32_t type = kNone; ///< string: "c10::BFloat16"
    std::int64_t offset = 0; ///< in its storage, in elements, as strides
    std::uint32_t gradientOf = kNone; ///< the number of the tensor whose .grad it is
    std::uint32_t dimensions = 0; ///< how many of CallListChunk::lengths: a size and a stride for each

    friend bool operator==(const CallTensorRow&, const CallTensorRow&) = default;
};

struct CallRow {
    CallKind kind = CallKind::Call;
    std::uint64_t event = 0; ///< how many events of the device came before
    bool gradients = false; ///< autograd makes nodes
    std::uint32_t name = kNone, detail = kNone; ///< strings
    std::uint32_t takes = 0, returns = 0; ///< how many, of CallListChunk::refs

    friend bool operator==(const CallRow&, const CallRow&) = default;
};

/// Of one deep step, whole. Rows in the order in which they happened.
struct CallListChunk {
    std::int32_t device = 0;
    std::uint32_t unusable = kNone; ///< string: why it cannot be called again, for people; kNone: it can
    std::uint64_t beginEvent = 0, endEvent = 0; ///< how many events of the device came before
    std::vector<CallTensorRow> tensors;
    std::vector<std::int64_t> lengths; ///< of the tensors, one's behind the other's: its sizes, then strides
    std::vector<CallRow> rows;
    std::vector<std::uint32_t> refs; ///< twice the row of `tensors`, 1 more where gradients are asked of it

    friend bool operator==(const CallListChunk&, const CallListChunk&) = default;
};
void encodeCallList(const CallListChunk& chunk, Bytes& out);
/// Rows of kinds that this Strata does not know are there.
[[nodiscard]] bool decodeCallList(std::span<const std::byte> payload, CallListChunk& chunk);

} // namespace strata::wire
