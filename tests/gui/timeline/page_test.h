// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/gui/allocator/replayed.h"
#include "tests/gui/timeline/made_trace.h"
#include "views/pages/timeline/timeline_page.h"

#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

namespace strata::test {

/// The page Timeline, shown, of a document that tests open.
class TimelinePageShown : public testing::Test, protected WindowFont {
protected:
    explicit TimelinePageShown(QSize size = { 1000, 640 })
        : m_page(m_document)
    {
        m_page.setPalette(views::Palette::light());
        m_page.resize(size);
        m_page.QWidget::show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_page));
    }
    /// Until its lanes and figures are there.
    void openFile(const QString& path)
    {
        m_document.open(path);
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                return m_document.state() == views::Document::State::Ready && m_page.lanes().data()
                    && !m_page.busy();
            },
            20'000))
            << m_document.error().text();
    }
    void openTrace(const std::string& text)
    {
        const QString path = m_folder.filePath(QStringLiteral("trace.json"));
        ASSERT_TRUE(write(path, text));
        openFile(path);
    }

    QTemporaryDir m_folder;
    views::Document m_document;
    views::TimelinePage m_page;
};

} // namespace strata::test
