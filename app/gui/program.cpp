// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/program.h"

#include "app/gui/contents.h"
#include "app/gui/render.h"
#include "views/shell/main_window.h"

#include <QApplication>
#include <QThreadPool>

#include <algorithm>

namespace strata::gui {

namespace {

QApplication& named(QApplication& application)
{
    QCoreApplication::setOrganizationName(QStringLiteral("Strata"));
    QCoreApplication::setApplicationName(QStringLiteral("Strata"));
    QGuiApplication::setDesktopFileName(QStringLiteral("strata"));
    return application;
}

} // namespace

Program::Program(QApplication& application)
    : m_application(named(application))
    , m_theme(m_application)
    , m_contents(windowContents())
{
    // Loading holds a thread for as long as it takes; the work of pages must not wait for it.
    QThreadPool* pool = QThreadPool::globalInstance();
    pool->setMaxThreadCount(std::max(pool->maxThreadCount(), 4));
}

std::optional<int> Program::start(const Options& options)
{
    m_theme.choose(views::Theme::fromName(options.theme.isEmpty() && !options.renderTo
            ? m_settings.value(QStringLiteral("view/theme")).toString()
            : options.theme));
    if (options.renderTo)
        return renderPages(options, m_theme);

    if (options.ranks) {
        auto* window = new views::MainWindow(m_theme, m_settings, m_contents);
        window->setAttribute(Qt::WA_DeleteOnClose);
        window->show();
        openRanks(*window, options.files);
        return std::nullopt;
    }
    bool first = true;
    for (const QString& file : options.files.isEmpty() ? QStringList{ QString() } : options.files) {
        auto* window = new views::MainWindow(m_theme, m_settings, m_contents);
        window->setAttribute(Qt::WA_DeleteOnClose);
        window->show();
        if (!first)
            window->move(window->pos() + QPoint(32, 32));
        first = false;
        if (!file.isEmpty())
            window->openFile(file, options.force);
    }
    return std::nullopt;
}

} // namespace strata::gui
