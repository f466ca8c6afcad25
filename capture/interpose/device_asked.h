// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::interpose {

/// LibTorch asks for the current device before it allocates: device_asked.cpp puts itself in between, and
/// calls this before it passes the question on. Each library that contains that file says here what it waited
/// for. Any thread; often: some nanoseconds are all that it may take once there is nothing left to do.
void onDeviceAsked() noexcept;

} // namespace strata::interpose
