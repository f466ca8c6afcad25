// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>

namespace strata::test {

/// The step of tests that try many similar cases: 1, but 5 under the address sanitizer, which is slow.
/// --long=asan (STRATA_LONG) takes 1 there, too.
inline std::size_t stride()
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    return std::getenv("STRATA_LONG") ? 1 : 5;
#endif
#endif
    return 1;
}

} // namespace strata::test
