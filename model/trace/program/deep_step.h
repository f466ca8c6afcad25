// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"
#include "model/trace/events.h"
#include "model/wire/deep_step_codec.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// One step of a training in which every operator was seen. Events are those of its device: something happens
/// behind that many of them. Rows in the order in which they happened.
struct DeepStep {
    using Kind = wire::DeepKind;
    struct Tensor {
        std::uint64_t address = 0; ///< of its storage, somewhere in a block; 0: it has no memory
        StringId type; ///< "c10::BFloat16"; none: not told
        std::uint64_t offset = 0, elements = 0; ///< as of wire::DeepTensorRow
    };
    struct Row {
        Kind kind = Kind::Operator;
        std::uint32_t thread = 0; ///< as the operating system counts
        EventIndex event = 0;
        StringId name, detail; ///< as of wire::DeepRow
        std::uint32_t saved = wire::kNone;
        std::uint32_t firstRef = 0, refs = 0; ///< of `refs` below
        wire::DeepLayout layout = wire::DeepLayout::NotTold; ///< of Saved
        std::uint64_t elements = 0; ///< of Saved: the tensor's own; where its layout is told
    };

    std::int32_t device = 0;
    StringId unusable; ///< why it is not to be used, for people; none: it is
    EventIndex beginEvent = 0, endEvent = 0; ///< so many events came before
    std::vector<Tensor> tensors;
    std::vector<Row> rows;
    std::vector<std::uint32_t> refs; ///< rows of `tensors`

    [[nodiscard]] std::span<const std::uint32_t> refsOf(const Row& row) const
    {
        return std::span(refs).subspan(row.firstRef, row.refs);
    }
};

/// A part of a recording (Recording::parts).
struct DeepSteps {
    std::vector<DeepStep> steps; ///< in the file's order
};

} // namespace strata::model
