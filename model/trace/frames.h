// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/filter/frame_origin.h"
#include "model/trace/recording.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// The frame that a stack is known by, the same in window, command line and digest. The first of these that
/// the stack has:
///
///   1. the innermost Python frame outside of torch, the standard library and pass-through packages
///   2. the innermost frame of the program's own C++
///   3. the innermost Python frame outside of torch and the standard library
///   4. the innermost step of backward, which runs on a thread of its own; else another function of autograd
///   5. the outermost operator
///   6. the innermost Python frame
///   7. the innermost C++ that is not machinery: unwinding, allocating, empty tensors, dispatch, Python
///   itself
///   8. the innermost frame
///
/// None for an empty stack.
[[nodiscard]] FrameId userFrame(const Recording& recording, StackId stack);

/// The same for many stacks: looks at each file name and each frame once. For one thread.
class UserFrames {
public:
    explicit UserFrames(const Recording& recording);
    [[nodiscard]] FrameId of(StackId stack);

private:
    [[nodiscard]] std::uint8_t rankOf(FrameId frame);

    const Recording& m_recording;
    std::vector<std::uint8_t> m_origins; // by StringId of the file
    std::vector<std::uint8_t> m_ranks; // by FrameId
};

/// A stack for people: of a program's own frames each, of what they call, between them and at the ends, runs
/// that can be folded.
struct FoldedFrames {
    FrameId frame; ///< of the program's own; none: a run
    std::uint32_t count = 1; ///< frames of the run
    FrameId known; ///< of a run: what it is known by, as a whole stack would be
};
/// Innermost first. A stack without frames of a program is one run.
[[nodiscard]] std::vector<FoldedFrames> foldedFrames(const Recording& recording, StackId stack);

/// Whether a frame is the program's own: 1 or 2 of the list above.
[[nodiscard]] bool isProgramFrame(const Recording& recording, FrameId frame);

/// What the group of blocks without a stack is called.
inline constexpr std::string_view kNoStackLabel = "no stack recorded";

/// "train.py:57": file as recorded and line. The function's name where that says more, as functionLabel() has
/// it: for C++ without a line, for steps of backward and operators. The library's name, without an offset,
/// where there is no more.
[[nodiscard]] std::string frameLabel(const Recording& recording, FrameId frame);
/// What goes beside that label: the function, of C++ without type, parameters and long arguments of
/// templates; nothing where the label is its name.
[[nodiscard]] std::string frameFunction(const Recording& recording, FrameId frame);
/// "train.py:57" with the directory left out, for narrow places.
[[nodiscard]] std::string frameShortLabel(const Recording& recording, FrameId frame);

/// What frameLabel() said until C++ that PyTorch recorded went by its name, "??:0" and offsets included: what
/// filters say that were saved then.
[[nodiscard]] std::string formerFrameLabel(const Recording& recording, FrameId frame);

/// The stacks that a line means, by StackId; the last stands for blocks without a stack. By today's labels;
/// where no stack has that one, by the former label of the frame that the stack was known by.
[[nodiscard]] std::vector<bool> stacksOfLine(const Recording& recording, std::string_view line);

/// Whether stacks show a program in C++ alone: code of its own, and nothing of Python, neither its frames nor
/// its interpreter. Without stacks nothing tells: false. O(frames).
[[nodiscard]] bool isCppProgram(const Recording& recording);

} // namespace strata::model
