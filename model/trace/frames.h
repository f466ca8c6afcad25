// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

enum class FrameOrigin : std::uint8_t { User, Torch, PythonLibrary, Native };

/// Where a frame's code comes from, by its file; both kinds of slash:
///
///   Native         C++ (by the extension: sources, headers, objects, libraries), Python's own binary, frames
///                  without a file ("" or "??")
///   Torch          below site-packages/torch or dist-packages/torch
///   PythonLibrary  the standard library: below lib/python3.11 (but its site-packages), below Lib of a Python
///                  for Windows, "<frozen runpy>"
///   User           the rest: programs, packages other than torch, notebooks, "<string>", and the Python
///                  that torch.compile writes (torchinductor_*, "<eval_with_key>.23"), which shows its
///                  fusions
[[nodiscard]] FrameOrigin originOf(std::string_view file);

/// Whether a file of origin Native is the program's own: a source or library outside of the system's folders,
/// headers, LibTorch, CUDA's libraries and Python.
[[nodiscard]] bool isOwnNative(std::string_view file);

/// The frame that a stack is known by: the innermost of the user's own code; else, in a stack that Strata
/// recorded, the innermost of the program's own C++; else the innermost Python frame; else, again as Strata
/// recorded it, the innermost step of backward, which runs on a thread of its own, else another function of
/// autograd, else the outermost operator; else the innermost. None for an empty stack.
[[nodiscard]] FrameId userFrame(const Recording& recording, StackId stack);

/// The same for many stacks: looks at each file name once. For one thread.
class UserFrames {
public:
    explicit UserFrames(const Recording& recording);
    [[nodiscard]] FrameId of(StackId stack);
    [[nodiscard]] FrameOrigin originOf(FrameId frame);

private:
    const Recording& m_recording;
    std::vector<std::uint8_t> m_origins; // by StringId of the file; kUnknown: not looked at
};

/// What the group of blocks without a stack is called.
inline constexpr std::string_view kNoStackLabel = "no stack recorded";

/// "train.py:57": file as recorded and line; the function's name for native frames without a file, and for
/// those that Strata recorded without a line: "Net::forward", "MmBackward0::apply" for a step of backward,
/// "at::mm" for an operator, with a line or without.
[[nodiscard]] std::string frameLabel(const Recording& recording, FrameId frame);
/// What goes beside that label: the function as recorded, or nothing where the label is its name.
[[nodiscard]] std::string_view frameFunction(const Recording& recording, FrameId frame);
/// "train.py:57" with the directory left out, for narrow places.
[[nodiscard]] std::string frameShortLabel(const Recording& recording, FrameId frame);

} // namespace strata::model
