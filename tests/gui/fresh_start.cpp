// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/fresh_start.h"

#include "tests/gui/qt_warnings.h"
#include "views/base/job_count.h"

#include <QApplication>
#include <QClipboard>
#include <QCursor>
#include <QDeadlineTimer>
#include <QDir>
#include <QPalette>
#include <QPixmapCache>
#include <QSettings>
#include <QStyle>
#include <QStyleFactory>
#include <QThread>
#include <QThreadPool>
#include <QToolTip>
#include <QTranslator>
#include <QWidget>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace strata::test {

namespace {

constexpr int kPatienceMs = 30'000;
constexpr unsigned long kBetweenLooksUs = 500;

/// Windows that Qt makes for itself and keeps.
constexpr std::array kQtKeeps{
    std::string_view("QTipLabel"), // a tool tip: a timer of its own removes it
};

std::map<std::string, std::string> environment()
{
    std::map<std::string, std::string> all;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text(*entry);
        const std::size_t end = text.find('=');
        if (end != std::string_view::npos)
            all.emplace(text.substr(0, end), text.substr(end + 1));
    }
    return all;
}

QList<QPointer<QTranslator>> translators()
{
    QList<QPointer<QTranslator>> all;
    for (QTranslator* translator : qApp->findChildren<QTranslator*>())
        all.append(translator);
    return all;
}

/// Objects deleted later may post events and delete others later.
void finishDeletions()
{
    constexpr int kRounds = 3;
    for (int i = 0; i < kRounds; ++i) {
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
        QCoreApplication::processEvents();
    }
}

} // namespace

bool jobsEnd()
{
    // The pool does not count threads that jobs have given back to it: both are asked.
    const auto none
        = [] { return views::jobsUnderWay() == 0 && QThreadPool::globalInstance()->waitForDone(0); };
    const QDeadlineTimer patience(kPatienceMs);
    for (;;) {
        finishDeletions(); // windows that go drop their jobs
        if (none()) {
            finishDeletions(); // what the last job posted may start another
            if (none())
                return true;
        }
        if (patience.hasExpired())
            return false;
        QThread::usleep(kBetweenLooksUs);
    }
}

FreshStart::FreshStart()
    : m_environment(environment())
    , m_folder(QDir::currentPath())
    , m_translators(translators())
    , m_font(QApplication::font())
    , m_style(QApplication::style()->name())
    , m_pointer(QCursor::pos())
    , m_threads(QThreadPool::globalInstance()->maxThreadCount())
{
    qInstallMessageHandler(failOnWarning);
    testing::UnitTest::GetInstance()->listeners().Append(this);
}

FreshStart::~FreshStart()
{
    testing::UnitTest::GetInstance()->listeners().Release(this);
}

void FreshStart::OnTestStart(const testing::TestInfo& /*info*/)
{
    m_settings.emplace();
    m_data.emplace();
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings->path());
    qputenv("XDG_DATA_HOME", m_data->path().toUtf8());
}

void FreshStart::OnTestEnd(const testing::TestInfo& /*info*/)
{
    qInstallMessageHandler(failOnWarning);
    finishDeletions();
    expectNoJobs();
    removeWindows();
    removeCursors();
    putBackLook();
    putBackLanguage();
    putBackProcess();
    finishDeletions();
}

void FreshStart::expectNoJobs()
{
    if (!jobsEnd())
        ADD_FAILURE() << "jobs outlive the case by more than " << kPatienceMs / 1000
                      << " s: " << views::jobsUnderWay() << " of windows, "
                      << QThreadPool::globalInstance()->activeThreadCount() << " threads of the pool";
}

void FreshStart::removeWindows()
{
    QToolTip::hideText();
    QList<QPointer<QWidget>> left;
    for (QWidget* window : QApplication::topLevelWidgets())
        if (!window->parentWidget())
            left.append(window);
    for (const QPointer<QWidget>& window : left) {
        if (!window)
            continue; // went with another one
        const std::string_view name = window->metaObject()->className();
        if (std::ranges::find(kQtKeeps, name) == kQtKeeps.end())
            ADD_FAILURE() << "a window outlives the case: " << name << " \""
                          << qPrintable(window->objectName()) << '"'
                          << (window->isVisible() ? ", visible" : ", hidden");
        delete window;
    }
}

void FreshStart::removeCursors()
{
    if (QApplication::overrideCursor())
        ADD_FAILURE() << "an override cursor outlives the case";
    while (QApplication::overrideCursor())
        QApplication::restoreOverrideCursor();
}

void FreshStart::putBackLook() const
{
    qApp->setStyleSheet(QString());
    if (QApplication::style()->name() != m_style)
        QApplication::setStyle(QStyleFactory::create(m_style));
    QApplication::setPalette(QPalette());
    QApplication::setFont(m_font);
    QPixmapCache::clear();
    if (QCursor::pos() != m_pointer)
        QCursor::setPos(m_pointer);
    QClipboard* const clipboard = QGuiApplication::clipboard();
    clipboard->clear();
    if (clipboard->supportsSelection())
        clipboard->clear(QClipboard::Selection);
}

void FreshStart::putBackLanguage() const
{
    for (const QPointer<QTranslator>& translator : translators())
        if (!m_translators.contains(translator))
            delete translator;
    for (const QPointer<QTranslator>& translator : m_translators) {
        if (!translator)
            continue;
        QCoreApplication::removeTranslator(translator);
        QCoreApplication::installTranslator(translator);
    }
    QLocale::setDefault(m_locale);
}

void FreshStart::putBackProcess()
{
    for (const auto& [name, value] : environment())
        if (!m_environment.contains(name))
            ::unsetenv(name.c_str());
    const std::map<std::string, std::string> now = environment();
    for (const auto& [name, value] : m_environment)
        if (const auto found = now.find(name); found == now.end() || found->second != value)
            ::setenv(name.c_str(), value.c_str(), 1);
    QDir::setCurrent(m_folder);
    QThreadPool::globalInstance()->setMaxThreadCount(m_threads);
    m_settings.reset();
    m_data.reset();
}

} // namespace strata::test
