// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/resources.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace {

/// Turns what Qt warns about into a failure of the test that runs; item models under QAbstractItemModelTester
/// and misused widgets speak up this way.
void failOnWarning(QtMsgType type, const QMessageLogContext&, const QString& message)
{
    if (type == QtDebugMsg || type == QtInfoMsg) {
        std::fprintf(stderr, "%s\n", qPrintable(message));
        return;
    }
    // What the platform plugin says of its machine is no fault of ours.
    if (message.contains(QLatin1String("propagateSizeHints"))
        || message.contains(QLatin1String("XDG_RUNTIME_DIR")))
        return;
    ADD_FAILURE() << "Qt: " << qPrintable(message);
}

} // namespace

int main(int argc, char** argv)
{
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    QCoreApplication::setOrganizationName(QStringLiteral("Strata"));
    QCoreApplication::setApplicationName(QStringLiteral("Strata"));
    QApplication application(argc, argv);
    strata::installTranslations(application);
    qInstallMessageHandler(failOnWarning);
    return RUN_ALL_TESTS();
}
