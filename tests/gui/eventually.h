// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTest>

namespace strata::test {

inline constexpr int kPatienceMs = 60'000;

/// Runs the event loop until the condition holds. False: it did not within kPatienceMs.
template <class Condition> bool eventually(const Condition& condition)
{
    return QTest::qWaitFor(condition, kPatienceMs);
}

} // namespace strata::test
