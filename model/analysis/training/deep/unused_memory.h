// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/deep/step_owners.h"
#include "model/analysis/training/steps/certainty.h"
#include "model/base/answer_fields.h"
#include "model/base/sentence.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace strata::model {

enum class UnusedKind : std::uint8_t {
    Loaded, ///< torch.load() or load_file() made the tensors
    LikeParameters, ///< they have the sizes of parameters that the step uses
    Graph, ///< made with gradients on, by code whose tensors the step saves for backward
    View, ///< calls of the step use a small part
    Other,
};
[[nodiscard]] std::string_view unusedKindWord(UnusedKind kind); ///< "loaded", "like_parameters", ...

/// Memory of a line of the program that nothing used in the deep step. Another step may use
/// it, or a kernel that the program launches without an operator.
struct UnusedLine {
    std::string line; ///< that allocates it, frameLabel(); of a graph the line that calls the module
    UnusedKind kind = UnusedKind::Other;
    bool staysToEnd = true; ///< of the recording; else until the steps end
    std::int64_t blocks = 0;
    std::int64_t bytes = 0; ///< of those blocks, requested
    std::int64_t usedBytes = 0; ///< of View: at most so many of these

    [[nodiscard]] std::int64_t unusedBytes() const { return bytes - usedBytes; }
};

/// What to do: "loaded from a file: load it to the CPU, or drop it after use".
[[nodiscard]] Sentence sayUnused(const UnusedLine& line);

/// Blocks that live before the step, at the peak of requested bytes, and until the last step of the same
/// optimizer, and that no operator, module or saved tensor of the step has. Blocks of which the step uses a
/// small part, too: a quarter at most. Left out are workspaces and communication, what an optimizer that
/// steps lists, and lines whose other blocks the step uses: one of these may be used in each step. Lines
/// below 1 MiB are left out, and all where a later training has the peak, or where CUDA graphs may run: these
/// use memory without operators.
///
///     blocks      |=================================================  nothing
///     deep step                  |== rows ==|           | last step
///
/// The most bytes first. O(blocks + listings + rows of the step).
[[nodiscard]] std::vector<UnusedLine> unusedMemory(
    const DeviceTrace& trace, const DeepStep& step, const StepOwners& owners);

/// The same of the deep step of this device. nullopt: no usable deep step, or CUDA graphs may run.
[[nodiscard]] std::optional<std::vector<UnusedLine>> findUnusedMemory(const DeviceTrace& trace);

/// Whether it is at least 5 % of the peak of requested bytes: enough to be named without being asked.
[[nodiscard]] bool isMuch(const std::vector<UnusedLine>& lines, const DeviceTrace& trace);

template <> struct Fields<UnusedLine> {
    static constexpr std::tuple all{
        field("line", Unit::None,
            "line of the program that allocates the blocks; of `graph` the line that calls the module",
            &UnusedLine::line),
        field("kind", Unit::None, "`loaded`, `like_parameters`, `graph`, `view` or `other`",
            [](const UnusedLine& line) { return unusedKindWord(line.kind); }),
        field("blocks", Unit::Count, "how many blocks", &UnusedLine::blocks),
        field("bytes", Unit::Bytes, "their requested bytes", &UnusedLine::bytes),
        field("used_bytes", Unit::Bytes, "of `view`: upper bound of the part that is used; else 0",
            &UnusedLine::usedBytes),
        field("certainty", Unit::None, "`likely`: another step, or a custom kernel, may use the blocks",
            [](const UnusedLine&) { return certaintyWord(Certainty::Likely); }),
        field("text", Unit::None, "what to do, in words",
            [](const UnusedLine& line) { return sayUnused(line); }),
    };
};

} // namespace strata::model
