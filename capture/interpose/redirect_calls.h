// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::interpose {

/// Leads the calls of a function of another library, from the loaded library whose file name begins with
/// `caller`, to `instead`: whatever the order in which libraries were linked, preloaded or loaded later,
/// which decides whose definition such calls reach. `before` is set first, to where they led until now:
/// `instead` is to call that. False, and nothing is changed, where `caller` is not loaded, does not call the
/// function, reaches `instead` or `own` already, or its table of calls cannot be written. Any thread; calls
/// on other threads meanwhile go to one of the two.
[[nodiscard]] bool redirectCalls(std::string_view caller, const char* function, void* instead,
    const void* own, std::atomic<void*>& before);

/// The same for every library that is loaded now, the program itself too: where they lead to one function,
/// the first that is found. False where none calls it, or none can be led elsewhere. O(what all of them
/// call).
[[nodiscard]] bool redirectAllCalls(const char* function, void* instead, std::atomic<void*>& before);

/// The places through which a loaded library calls a function of another: for calls that are led elsewhere
/// for moments, and back. A library that is never unloaded.
class CallPlaces {
public:
    CallPlaces() = default;
    CallPlaces(std::string_view caller, const char* function);

    /// Where they lead; nullptr where there are none, or they lead to several functions.
    [[nodiscard]] void* target() const { return m_target; }
    /// Any thread, one at a time; calls on others meanwhile go to one of the two. False where they cannot be
    /// written: then all lead where they led.
    [[nodiscard]] bool lead(void* function) const;

private:
    struct Place {
        std::uintptr_t* slot;
        bool readOnly;
    };
    std::vector<Place> m_places;
    void* m_target = nullptr;
};

} // namespace strata::interpose
