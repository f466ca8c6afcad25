// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::simgpu {

/// Becomes a program that was found on the way (late_device.h), with stand-ins for its LibTorch in front
/// where it has one, and its recorder's hook made where it is recorded. `words` are EXECUTABLE PYTHON --
/// ARGUMENTS; PYTHON is empty for a program that links LibTorch. The program runs whatever goes wrong, which
/// is said on stderr; a Python without any PyTorch is none of that. Returns, with an exit status, only where
/// it cannot be started.
[[nodiscard]] int becomeAgain(int count, char** words);

} // namespace strata::simgpu
