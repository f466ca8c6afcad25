// SPDX-License-Identifier: Apache-2.0
// Stands between a C++ program and LibTorch's autocast, which is a flag there, and no range. Python's ranges
// come by here too. The signatures are the same in 2.4 and everything after it.
#include "capture/interpose/cpp_training.h"
#include "capture/interpose/libtorch_functions.h"

#include <cstdint>

namespace strata::interpose {

namespace {

constexpr std::int8_t kCuda = 1; // c10::DeviceType

bool isEnabled(std::int8_t device)
{
    static const auto real = reinterpret_cast<bool (*)(std::int8_t)>(
        behind("_ZN2at8autocast19is_autocast_enabledEN3c1010DeviceTypeE"));
    return real && real(device);
}

} // namespace

#define STRATA_AUTOCAST "_ZN2at8autocast20set_autocast_enabledEN3c1010DeviceTypeEb"

STRATA_INTERPOSED void strataSetAutocast(std::int8_t device, bool enabled) __asm__(STRATA_AUTOCAST);
void strataSetAutocast(std::int8_t device, bool enabled)
{
    static const auto real = functionBehind<decltype(&strataSetAutocast)>(STRATA_AUTOCAST);
    const bool changes = device == kCuda && isEnabled(device) != enabled;
    real(device, enabled);
    if (changes)
        onAutocast(enabled);
}

const char* autocastType() noexcept
{
    static const auto typeOf = reinterpret_cast<std::int8_t (*)(std::int8_t)>(
        behind("_ZN2at8autocast18get_autocast_dtypeEN3c1010DeviceTypeE"));
    if (!isEnabled(kCuda))
        return nullptr;
    constexpr std::int8_t kHalf = 5, kBFloat16 = 15; // c10::ScalarType
    const std::int8_t type = typeOf ? typeOf(kCuda) : 0;
    return type == kBFloat16 ? "c10::BFloat16" : type == kHalf ? "c10::Half" : "";
}

} // namespace strata::interpose
