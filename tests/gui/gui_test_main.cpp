// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/resources.h"
#include "tests/gui/fresh_start.h"
#include "tests/gui/leaks_of_others.h"
#include "tests/gui/test_fonts.h"

#include <QApplication>

#include <gtest/gtest.h>

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    const strata::test::TestFonts fonts;
    QCoreApplication::setOrganizationName(QStringLiteral("Strata"));
    QCoreApplication::setApplicationName(QStringLiteral("Strata"));
    QApplication application(argc, argv);
    fonts.setFontOf(application);
    strata::installTranslations(application);
    const strata::test::FreshStart fresh;
    return RUN_ALL_TESTS();
}
