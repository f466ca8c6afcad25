// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>

namespace strata::test {

/// A test of many alike cases takes every stride()th: all of them, but one in five under the address
/// sanitizer, which is slow. Its long part takes all there, too (STRATA_LONG).
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
