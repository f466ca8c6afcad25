// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/trace/recording.h"

#include <cstdint>
#include <optional>
#include <ranges>
#include <string>

namespace strata::model {

/// Points into the recording.
struct FrameIn {
    const Recording* recording = nullptr;
    FrameId id;

    [[nodiscard]] const Frame& frame() const { return recording->stacks.frame(id); }
};

/// A stack of a recording, to which it points; an invalid id: none was recorded.
struct StackIn {
    const Recording* recording = nullptr;
    StackId id;

    [[nodiscard]] auto frames() const
    {
        return recording->stacks.stack(id) | std::views::transform([of = recording](FrameId frame) {
            return FrameIn{ of, frame };
        });
    }
};

template <> struct Fields<FrameIn> {
    static constexpr std::tuple all{
        field("file", Unit::None, "source file, or library",
            [](const FrameIn& in) { return in.recording->strings[in.frame().file]; }),
        field("line", Unit::None, "line in it; 0: not known",
            [](const FrameIn& in) { return in.frame().line; }),
        field("name", Unit::None, "function",
            [](const FrameIn& in) { return in.recording->strings[in.frame().function]; }),
    };
};

template <> struct Fields<StackIn> {
    static constexpr std::tuple all{
        field("id", Unit::None, "number of the stack; null: none was recorded",
            [](const StackIn& in) { return in.id.valid() ? std::optional(in.id.value) : std::nullopt; }),
        field("frames", Unit::None, "innermost first", &StackIn::frames),
    };
};

} // namespace strata::model
