// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QThreadPool>

#include <semaphore>

namespace strata::test {

/// Every thread of the global pool waits, as if it read long files.
class FullPool {
public:
    FullPool()
    {
        QThreadPool* pool = QThreadPool::globalInstance();
        for (int i = 0; i < pool->maxThreadCount(); ++i)
            pool->start([this] { m_mayEnd.acquire(); });
    }
    ~FullPool()
    {
        m_mayEnd.release(QThreadPool::globalInstance()->maxThreadCount());
        QThreadPool::globalInstance()->waitForDone();
    }

private:
    std::counting_semaphore<> m_mayEnd{ 0 };
};

} // namespace strata::test
