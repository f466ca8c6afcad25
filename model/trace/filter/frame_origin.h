// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::model {

enum class FrameOrigin : std::uint8_t { User, PassThrough, Torch, PythonLibrary, Native };

/// Where a frame's code comes from, by its file; both kinds of slash:
///
///   Native         C++ (by the extension: sources, headers, objects, libraries), Python's own binary, frames
///                  without a file ("" or "??")
///   Torch          below site-packages/torch or dist-packages/torch; "torch/..." of a profiler
///   PythonLibrary  the standard library: below lib/python3.11 (but its site-packages), below Lib of a Python
///                  for Windows, "<frozen runpy>"
///   PassThrough    packages that only pass calls on (pass_through.h), and what they generate
///   User           the rest: programs, packages other than torch, notebooks, "<string>", and the Python
///                  that torch.compile writes (torchinductor_*, "<eval_with_key>.23"), which shows its
///                  fusions
[[nodiscard]] FrameOrigin originOf(std::string_view file);

/// Whether a file of origin Native is the program's own: a source or library outside of the system's folders,
/// headers, LibTorch, CUDA's libraries and Python. A name without a folder may be anybody's.
[[nodiscard]] bool isOwnNative(std::string_view file);

/// A library or program without debug information: a line of it is an offset.
[[nodiscard]] bool isSharedLibrary(std::string_view file);

/// Whether a frame is one of those by which torch.nn.Module calls a forward and its hooks. A hook, as one of a
/// deep step, changes which ones and their lines.
[[nodiscard]] bool isModuleCall(std::string_view file, std::string_view function);

/// "train.py" of "/home/u/train.py".
[[nodiscard]] std::string_view baseName(std::string_view file);

} // namespace strata::model
