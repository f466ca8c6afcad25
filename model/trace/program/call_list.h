// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"
#include "model/trace/events.h"
#include "model/wire/call_list_codec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// What the program itself called in a deep step. Events are those of its device: something happens behind
/// that many of them. Rows in the order in which they happened. Nothing of it is believed to be callable:
/// whatif/recorded_calls.h says what is.
struct CallList {
    using Kind = wire::CallKind;
    struct Tensor {
        std::uint64_t address = 0; ///< of its storage; 0: it has no memory
        StringId type; ///< "c10::BFloat16"; none: not told
        std::int64_t offset = 0; ///< in elements, as strides
        std::uint32_t gradientOf = wire::kNone; ///< the tensor whose .grad it is
        std::uint32_t firstLength = 0, dimensions = 0; ///< of `lengths`: sizes, then strides
    };
    struct Row {
        Kind kind = Kind::Call;
        EventIndex event = 0;
        bool gradients = false; ///< autograd makes nodes
        StringId name, detail; ///< as of wire::CallRow
        std::uint32_t firstRef = 0, takes = 0,
                      returns = 0; ///< of `refs`: what it takes, then what it returns
    };

    std::int32_t device = 0;
    StringId unusable; ///< why it cannot be called again, for people; none: it can
    EventIndex beginEvent = 0, endEvent = 0; ///< so many events came before
    std::vector<Tensor> tensors;
    std::vector<std::int64_t> lengths;
    std::vector<Row> rows;
    std::vector<std::uint32_t> refs; ///< tensorOf() and asksGradients() of each

    [[nodiscard]] static std::uint32_t tensorOf(std::uint32_t ref) { return ref / 2; }
    [[nodiscard]] static bool asksGradients(std::uint32_t ref) { return ref % 2 != 0; }
    [[nodiscard]] std::span<const std::uint32_t> taken(const Row& row) const
    {
        return std::span(refs).subspan(row.firstRef, row.takes);
    }
    [[nodiscard]] std::span<const std::uint32_t> returned(const Row& row) const
    {
        return std::span(refs).subspan(row.firstRef + row.takes, row.returns);
    }
    [[nodiscard]] std::span<const std::int64_t> sizes(const Tensor& tensor) const
    {
        return std::span(lengths).subspan(tensor.firstLength, tensor.dimensions);
    }
    [[nodiscard]] std::span<const std::int64_t> strides(const Tensor& tensor) const
    {
        return std::span(lengths).subspan(tensor.firstLength + tensor.dimensions, tensor.dimensions);
    }
};

/// A part of a recording (Recording::parts).
struct CallLists {
    std::vector<CallList> lists; ///< in the file's order
};

} // namespace strata::model
