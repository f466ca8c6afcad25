// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractEventDispatcher>
#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QThread>

namespace strata::test {

inline constexpr int kPatienceMs = 60'000; // long, since machines may be loaded

/// Handles events until the condition holds. False: it did not within kPatienceMs.
template <class Condition> [[nodiscard]] bool eventually(const Condition& condition)
{
    // QTest::qWaitFor() sleeps for 10 ms after each look. This loop sleeps only when no event is pending.
    constexpr unsigned long kBetweenLooksUs = 500;
    const QDeadlineTimer patience(kPatienceMs);
    while (!condition()) {
        if (patience.hasExpired())
            return false;
        const bool handled = QAbstractEventDispatcher::instance()->processEvents(QEventLoop::AllEvents);
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        if (!handled)
            QThread::usleep(kBetweenLooksUs);
    }
    return true;
}

} // namespace strata::test
