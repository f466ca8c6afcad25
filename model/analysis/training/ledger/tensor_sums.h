// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/listed_tensors.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace strata::model {

/// Elements of tensors that the program told of, each counted once, in blocks that live at one instant.
struct TensorSums {
    /// Of one kind.
    struct Elements {
        std::int64_t count = 0;
        std::int64_t bytes = 0; ///< by their types; 0 where one of them is not known
        bool typesKnown = true;
        std::map<StringId, std::int64_t> byType;

        /// The type that most of them have; none.
        [[nodiscard]] StringId mostly() const;
    };
    std::array<Elements, wire::kRoleKinds> ofKind;
    Elements trained; ///< parameters that an optimizer has
    std::map<std::uint32_t, Elements> trainedBy; ///< by the optimizer's number

    [[nodiscard]] const Elements& of(wire::RoleKind kind) const
    {
        return ofKind[static_cast<std::size_t>(kind)];
    }
};

/// O(active x log tensors).
[[nodiscard]] TensorSums tensorSums(
    const DeviceTrace& trace, const ListedTensors& tensors, std::span<const BlockId> active);

/// Bytes of an element: 2 of "bfloat16"; 0: the type is not known. A quarter of a byte counts as 1.
[[nodiscard]] std::int64_t elementBytes(std::string_view type);

/// How many elements optimizers keep for each element of their parameters: 2 of Adam; by the classes of
/// their steps and, for what is an option of one, the parts of their states (torch/optim/*.py of 2.15).
/// None where a class or a type is not known. O(listings).
[[nodiscard]] std::optional<double> stateBytesExpected(
    const DeviceTrace& trace, const ListedTensors& tensors, const TensorSums& sums);

} // namespace strata::model
