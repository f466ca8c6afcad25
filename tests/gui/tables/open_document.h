// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/document.h"
#include "views/pages/parts/page.h"

#include <QTest>

#include <gtest/gtest.h>

namespace strata::test {

inline bool settled(const views::Document& document, const views::Page& page)
{
    return QTest::qWaitFor([&] { return document.device() && !document.working() && !page.busy(); }, 20000);
}

/// Opens a recording of tests/data and waits until the page shows it.
inline void openDocument(views::Document& document, const views::Page& page, const char* name)
{
    document.open(QStringLiteral(STRATA_TEST_DATA "/versions/") + QLatin1String(name));
    ASSERT_TRUE(settled(document, page)) << document.error().text();
}

} // namespace strata::test
