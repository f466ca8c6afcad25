// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string_view>

namespace strata::interpose {

/// Leads the calls of a function of another library, from the loaded library whose file name begins with
/// `caller`, to `instead`: whatever the order in which libraries were linked, preloaded or loaded later,
/// which decides whose definition such calls reach. `before` is set first, to where they led until now:
/// `instead` is to call that. False, and nothing is changed, where `caller` is not loaded, does not call the
/// function, reaches `instead` or `own` already, or its table of calls cannot be written. Any thread; calls
/// on other threads meanwhile go to one of the two.
[[nodiscard]] bool redirectCalls(std::string_view caller, const char* function, void* instead,
    const void* own, std::atomic<void*>& before);

} // namespace strata::interpose
