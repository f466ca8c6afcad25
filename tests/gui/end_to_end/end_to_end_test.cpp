// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/end_to_end/end_to_end_test.h"

#include <QApplication>
#include <QDir>
#include <QScreen>

namespace strata::test {

std::string EndToEndTest::s_skipped;

void EndToEndTest::SetUp()
{
    if (!s_skipped.empty())
        GTEST_SKIP() << s_skipped;
}

void EndToEndTest::start(const QStringList& files)
{
    m_program = std::make_unique<gui::Program>(*qApp);
    m_program->settings().clear();
    const auto status
        = m_program->start(gui::parseOptions(QStringList{ QStringLiteral("strata-gui") } + files));
    ASSERT_FALSE(status);
    views::MainWindow* window = nullptr;
    for (QWidget* top : QApplication::topLevelWidgets())
        if (auto* found = qobject_cast<views::MainWindow*>(top))
            window = found;
    ASSERT_TRUE(window);
    m_driver.emplace(*window);
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window, 60'000));
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window, 60'000));
    if (!files.isEmpty()) {
        ASSERT_TRUE(eventually([&] { return m_driver->showsFile(files.back()); }));
    }
}

void EndToEndTest::TearDown()
{
    if (HasFailure()) {
        const auto* info = testing::UnitTest::GetInstance()->current_test_info();
        const QString path = QStringLiteral(STRATA_FAILED "/%1.png").arg(QLatin1String(info->name()));
        QDir().mkpath(QStringLiteral(STRATA_FAILED));
        if (QScreen* screen = QGuiApplication::primaryScreen(); screen && screen->grabWindow(0).save(path))
            std::fprintf(stderr, "the screen at the failure: %s\n", qPrintable(path));
    }
    m_driver.reset();
    QList<views::MainWindow*> windows; // first all of them: with a window go its own top-level parts
    for (QWidget* top : QApplication::topLevelWidgets())
        if (auto* window = qobject_cast<views::MainWindow*>(top))
            windows.append(window);
    qDeleteAll(windows);
    m_program.reset();
}

} // namespace strata::test
