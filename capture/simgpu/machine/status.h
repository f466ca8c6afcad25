// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::simgpu {

/// What a call of the simulated device answers. The numbers are those that the CUDA runtime and the CUDA
/// driver share, so that both sets of entry points pass them on unchanged.
enum class Status : int {
    Ok = 0,
    InvalidValue = 1,
    OutOfMemory = 2,
    NoDevice = 100,
    InvalidDevice = 101,
    NoKernelImage = 209,
    InvalidHandle = 400,
    IllegalState = 401,
    NotFound = 500,
    NotReady = 600,
    PeerAccessAlreadyEnabled = 704,
    HostMemoryAlreadyRegistered = 712,
    HostMemoryNotRegistered = 713,
    NotSupported = 801,
    CaptureUnsupported = 900,
    CaptureInvalidated = 901,
    CaptureUnmatched = 903,
    CaptureUnjoined = 904,
    CapturedEvent = 907,
};

} // namespace strata::simgpu
