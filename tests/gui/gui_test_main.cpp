// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/resources.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include "tests/gui/leaks_of_others.h"
#include "tests/gui/qt_warnings.h"

#include <cstdlib>

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    const QTemporaryDir settings, data;
    qputenv("XDG_DATA_HOME", data.path().toUtf8()); // the notes of whoever runs the tests stay theirs
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    QCoreApplication::setOrganizationName(QStringLiteral("Strata"));
    QCoreApplication::setApplicationName(QStringLiteral("Strata"));
    QApplication application(argc, argv);
    strata::installTranslations(application);
    qInstallMessageHandler(strata::test::failOnWarning);
    return RUN_ALL_TESTS();
}
