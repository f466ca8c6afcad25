// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/resources.h"
#include "tests/gui/end_to_end/end_to_end_test.h"
#include "tests/gui/end_to_end/xvfb.h"
#include "tests/gui/fresh_start.h"
#include "tests/gui/leaks_of_others.h"
#include "tests/gui/test_fonts.h"

#include <QApplication>

#include <cstdlib>

int main(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (GTEST_FLAG_GET(list_tests))
        return RUN_ALL_TESTS();
    const strata::test::Xvfb screen;
    if (screen.installed() && !screen.running()) {
        std::fprintf(stderr, "%s\n", screen.problem().c_str());
        return EXIT_FAILURE;
    }
    strata::test::EndToEndTest::setSkipped(screen.problem());
    qputenv("QT_QPA_PLATFORM", screen.running() ? "xcb" : "offscreen");
    // Neither the desktop of who runs the tests nor their settings take part.
    for (const char* variable : { "QT_QPA_PLATFORMTHEME", "QT_STYLE_OVERRIDE", "QT_SCALE_FACTOR",
             "QT_FONT_DPI", "XDG_CURRENT_DESKTOP", "KDE_FULL_SESSION" })
        qunsetenv(variable);
    QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    const strata::test::TestFonts fonts;
    QApplication application(argc, argv);
    QApplication::setQuitOnLastWindowClosed(false);
    fonts.setFontOf(application);
    strata::installTranslations(application);
    const strata::test::FreshStart fresh;
    return RUN_ALL_TESTS();
}
