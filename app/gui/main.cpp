// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/options.h"
#include "app/gui/render.h"
#include "resources/resources.h"
#include "views/shell/main_window.h"
#include "views/shell/theme.h"

#include <QApplication>
#include <QSettings>
#include <QThreadPool>

#include <algorithm>
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
    QCoreApplication::setOrganizationName(QStringLiteral("Strata"));
    QCoreApplication::setApplicationName(QStringLiteral("Strata"));
    QGuiApplication::setDesktopFileName(QStringLiteral("strata"));
    const gui::Options options = gui::parseOptions(QCoreApplication::arguments());
    // Loading holds a thread for as long as it takes; the work of pages must not wait for it.
    QThreadPool* pool = QThreadPool::globalInstance();
    pool->setMaxThreadCount(std::max(pool->maxThreadCount(), 4));

    QSettings settings;
    views::Theme theme(application);
    theme.choose(views::Theme::fromName(options.theme.isEmpty() && !options.renderTo
            ? settings.value(QStringLiteral("view/theme")).toString()
            : options.theme));
    if (options.renderTo)
        return gui::renderPages(options, theme);

    bool first = true;
    for (const QString& file : options.files.isEmpty() ? QStringList{ QString() } : options.files) {
        auto* window = new views::MainWindow(theme, settings);
        window->setAttribute(Qt::WA_DeleteOnClose);
        window->show();
        if (!first)
            window->move(window->pos() + QPoint(32, 32));
        first = false;
        if (!file.isEmpty())
            window->openFile(file, options.force);
    }
    return QApplication::exec();
}
