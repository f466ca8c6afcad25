// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/cupti/layout/records.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace strata::cupti {

using Status = int; ///< a CUptiResult: 0 is success
using Clock = std::uint64_t (*)();
using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* mostRecords);
using CompleteBuffer = void (*)(
    void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes, std::size_t valid);
using NextRecord = Status (*)(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record);

/// Whose calls a number belongs to: CUpti_CallbackDomain.
enum class CallDomain : std::uint32_t { Driver = 1, Runtime = 2 };

/// What the recorder calls of CUPTI, by its own names there. The library is the one that the program loaded.
struct Library {
    Status (*registerCallbacks)(RequestBuffer, CompleteBuffer) = nullptr;
    Status (*registerClock)(Clock) = nullptr; ///< nullptr before CUDA 11.8
    Status (*enable)(RecordKind) = nullptr;
    Status (*disable)(RecordKind) = nullptr;
    Status (*flush)(std::uint32_t) = nullptr;
    NextRecord next = nullptr;
    Status (*dropped)(void* context, std::uint32_t stream, std::size_t* count) = nullptr;
    Status (*callName)(CallDomain, std::uint32_t call, const char** name) = nullptr;
    Status (*resultText)(Status, const char** text) = nullptr;
};

/// That of this process; nullptr, and why for the user, where there is none. Nothing of it is called here: it
/// may be called only once a device is known (the one of CUDA 13.2 crashes otherwise). Any thread.
[[nodiscard]] const Library* findLibrary(std::string& why);

} // namespace strata::cupti
