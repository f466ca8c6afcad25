// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/gui/allocator/replayed.h"
#include "views/pages/whatif/what_if_page.h"

#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

namespace strata::test {

/// The page What-if, shown, of a document that a test opens.
class ShownWhatIfPage : public testing::Test, protected WindowFont {
protected:
    explicit ShownWhatIfPage(QSize size)
        : m_page(m_document)
    {
        m_page.setPalette(views::Palette::light());
        m_page.resize(size);
        m_page.QWidget::show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_page));
    }
    /// Waits until the page shows all of its answer.
    void settle()
    {
        ASSERT_TRUE(QTest::qWaitFor(
            [&] { return m_document.device() && !m_document.working() && !m_page.busy(); }, 30'000))
            << m_document.error().text();
    }
    void open(const QString& path)
    {
        m_document.open(path);
        ASSERT_NO_FATAL_FAILURE(settle());
    }
    void openSample() { open(QStringLiteral(STRATA_SESSIONS "/gpt2_124m_bf16_train.strata")); }
    [[nodiscard]] const model::Scenario& scenario() { return m_page.whatIf().scenario(); }
    [[nodiscard]] const model::Prediction& prediction() { return *m_page.whatIf().answer()->prediction; }

    QTemporaryDir m_folder;
    views::Document m_document;
    views::WhatIfPage m_page;
};

} // namespace strata::test
