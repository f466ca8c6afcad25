// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::inject {

/// Where this program is a Python, or linked with LibTorch, and a device is asked for that it does not have
/// (capture/simgpu/launch/late_device.h): starts it again with one, by its own arguments, and does not
/// return. Whatever fails is said once, and the program goes on without. While the program's libraries are
/// initialized, on its only thread; some ten microseconds in any other program.
void startAgainWithDevice(char** arguments) noexcept;

} // namespace strata::inject
