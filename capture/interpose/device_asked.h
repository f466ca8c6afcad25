// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::interpose {

/// LibTorch asks for the current device before it allocates: device_asked.cpp puts itself in between, and
/// calls this before it passes the question on. Each library that contains that file says here what it waited
/// for. Any thread; often: some nanoseconds are all that it may take once there is nothing left to do.
void onDeviceAsked() noexcept;

/// Where LibTorch's calls reach another definition first (the runtime's own, linked before ours; the
/// simulated device's, preloaded; ours was loaded out of sight, as Python does), leads them here, once.
/// False, and to be called again, while LibTorch is not loaded. Any thread, one at a time.
bool followDeviceCalls() noexcept;

} // namespace strata::interpose
