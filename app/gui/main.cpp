// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/program.h"
#include "resources/resources.h"

#include <QApplication>

#include <cstdio>

namespace {

/// What the offscreen platform says of itself is of no use to who wants a picture.
void onlyWhatIsSerious(QtMsgType type, const QMessageLogContext&, const QString& message)
{
    if (type == QtCriticalMsg || type == QtFatalMsg)
        std::fprintf(stderr, "strata-gui: %s\n", qPrintable(message));
}

} // namespace

int main(int argc, char** argv)
{
    using namespace strata;

    if (gui::prepareEnvironment(argc, argv))
        qInstallMessageHandler(onlyWhatIsSerious);
    QApplication application(argc, argv);
    installTranslations(application);
    const gui::Options options = gui::parseOptions(QCoreApplication::arguments());
    gui::Program program(application);
    if (const auto status = program.start(options))
        return *status;
    return QApplication::exec();
}
