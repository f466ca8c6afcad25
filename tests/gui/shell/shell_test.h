// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/contents.h"
#include "resources/resources.h"
#include "tests/gui/shell/window_driver.h"
#include "views/shell/theme.h"

#include <QApplication>
#include <QFile>
#include <QSettings>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <memory>

namespace strata::test {

/// Windows with settings and notes of their own, on the offscreen platform.
class ShellTest : public testing::Test {
protected:
    ShellTest()
        : m_settings(m_scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat)
        , m_theme((initResources(), *qApp))
    {
        qputenv("XDG_DATA_HOME", m_scratch.path().toUtf8());
        makeWindow();
    }

    /// Another window with the same settings in the place of the first.
    void makeWindow()
    {
        m_window.reset();
        m_window = std::make_unique<views::MainWindow>(m_theme, m_settings, m_contents);
        m_window->show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(m_window.get(), 60'000));
    }
    /// Opens a file and waits until every page shows it.
    void open(const QString& path)
    {
        m_window->openFile(path);
        ASSERT_TRUE(eventually([&] { return driver().showsFile(path); }));
    }
    /// Writes a file into the scratch folder.
    QString file(const char* name, const QByteArray& content)
    {
        QFile written(m_scratch.filePath(QLatin1String(name)));
        EXPECT_TRUE(written.open(QIODevice::WriteOnly) && written.write(content) == content.size());
        return written.fileName();
    }
    static QString sample() { return QStringLiteral(STRATA_SAMPLES "/gpt2_124m_bf16_train.pickle.gz"); }
    static QString outOfMemorySample()
    {
        return QStringLiteral(STRATA_SAMPLES "/gpt2_124m_bf16_oom_16gib.pickle.gz");
    }

    views::MainWindow& window() { return *m_window; }
    WindowDriver driver() { return WindowDriver(*m_window); }
    void settle()
    {
        ASSERT_TRUE(eventually([&] { return driver().settled(); }));
    }

    QTemporaryDir m_scratch;
    QSettings m_settings;
    views::Theme m_theme;
    views::ContentList m_contents = gui::windowContents();
    std::unique_ptr<views::MainWindow> m_window;
};

} // namespace strata::test
