// SPDX-License-Identifier: GPL-3.0-or-later
// The window with contents that it has never heard of.
#include "views/shell/banner.h"
#include "views/shell/main_window.h"
#include "views/shell/status_bar.h"
#include "views/shell/theme.h"

#include "resources/resources.h"

#include <QApplication>
#include <QClipboard>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>

using namespace strata;
using namespace strata::views;

namespace {

/// Writes down what the window asks of it.
class Noted : public WindowContent {
public:
    Noted(const QString& name, QStringList& log, const ContentContext& context)
        : m_name(name)
        , m_log(log)
        , m_part(new QLabel(name))
    {
        serve(
            context.actions.peak, [this] { note("peak"); }, [this] { return m_hasPeak; });
        serve(
            context.actions.minimap, [] {}, {}, [this] { return m_hasPeak; });
    }
    ~Noted() override
    {
        note("deleted");
        delete m_part;
    }

    QString title() const override { return m_name; }
    void setPalette(const Palette& palette) override { note(palette.isDark() ? "dark" : "light"); }
    QWidget* topPart() override { return m_part; }
    QString statusText() const override { return m_name + QStringLiteral(" says"); }
    QStringList places() const override { return { QStringLiteral("one"), QStringLiteral("two") }; }
    void goToPlace(int index) override { note(index == 0 ? "first place" : "second place"); }
    bool canCopy() const override { return true; }
    QString copyText() const override { return m_name; }
    QString commandLine() const override { return QStringLiteral("strata ") + m_name; }
    void enter(const QString& behind) override { note("before " + behind.toStdString()); }
    void closing() override { note("closing"); }
    bool preparing() const override { return m_preparing; }
    QWidget* makeProgress(Shape) override
    {
        m_preparing = true;
        return new QLabel(QStringLiteral("on its way"));
    }

    bool m_hasPeak = false;

private:
    void note(const std::string& what) const
    {
        m_log.append(m_name + QStringLiteral(": ") + QString::fromStdString(what));
    }

    QString m_name;
    QStringList& m_log;
    QPointer<QLabel> m_part;
    bool m_preparing = false;
};

class WindowContentTest : public testing::Test {
protected:
    WindowContentTest()
        : m_settings(m_scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat)
        , m_theme((initResources(), *qApp))
    {
        m_theme.choose(Theme::Choice::Light);
        const auto make = [this](const QString& name) {
            return [this, name](const ContentContext& context) { return new Noted(name, m_log, context); };
        };
        m_contents.start = make(QStringLiteral("start"));
        m_contents.file = [this](const ContentContext& context, const QString& path, bool) {
            return new Noted(path, m_log, context);
        };
        for (const char* id : { "attach", "ranks" }) {
            const QString name = QLatin1String(id);
            m_contents.kinds.push_back(
                { name, name, name, name, QStringLiteral("open"), QKeySequence(), make(name) });
        }
        m_window = std::make_unique<MainWindow>(m_theme, m_settings, m_contents);
        m_window->show();
    }

    Noted& shown() { return dynamic_cast<Noted&>(m_window->shown()); }
    void open(const char* path)
    {
        m_window->openFile(QLatin1String(path));
        Q_EMIT m_window->pending()->prepared();
    }
    QStringList takeLog() { return std::exchange(m_log, {}); }

    QTemporaryDir m_scratch;
    QSettings m_settings;
    QStringList m_log;
    Theme m_theme;
    ContentList m_contents;
    std::unique_ptr<MainWindow> m_window;
};

TEST_F(WindowContentTest, ShowsWhatItIsGiven)
{
    EXPECT_EQ(m_window->windowTitle(), QStringLiteral("start - Strata"));
    EXPECT_EQ(m_window->status().text(), QStringLiteral("start says"));
    EXPECT_TRUE(shown().topPart()->isVisible());
    EXPECT_TRUE(takeLog().contains(QStringLiteral("start: light")));
    m_window->actions().copy->trigger();
    EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("start"));
    m_window->actions().copyCommand->trigger();
    EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("strata start"));
    m_theme.choose(Theme::Choice::Dark);
    EXPECT_TRUE(takeLog().contains(QStringLiteral("start: dark")));
}

TEST_F(WindowContentTest, AnActionIsTheContentsThatServesIt)
{
    const Actions& a = m_window->actions();
    EXPECT_FALSE(a.peak->isEnabled());
    EXPECT_FALSE(a.undo->isEnabled()) << "nobody serves it";
    shown().m_hasPeak = true;
    Q_EMIT shown().changed();
    EXPECT_TRUE(a.peak->isEnabled());
    EXPECT_TRUE(a.minimap->isChecked());
    (void)takeLog();
    a.peak->trigger();
    EXPECT_EQ(takeLog(), QStringList{ QStringLiteral("start: peak") });
    open("a");
    EXPECT_FALSE(a.peak->isEnabled()) << "another content, which has none";
    EXPECT_FALSE(a.minimap->isChecked());
}

TEST_F(WindowContentTest, WhatIsOpenedTakesItsPlaceOnceItIsReady)
{
    QWidget* before = shown().topPart();
    m_window->openFile(QStringLiteral("a"));
    EXPECT_FALSE(m_window->opened());
    EXPECT_EQ(&m_window->shown(), &shown());
    ASSERT_TRUE(m_window->pending());
    Q_EMIT m_window->pending()->prepared();
    EXPECT_EQ(m_window->windowTitle(), QStringLiteral("a - Strata"));
    EXPECT_FALSE(before->isVisible());
    EXPECT_EQ(m_window->status().text(), QStringLiteral("a says"));
    (void)takeLog();
    open("b");
    const QStringList log = takeLog();
    EXPECT_LT(log.indexOf(QStringLiteral("a: closing")), log.indexOf(QStringLiteral("a: deleted")));
    EXPECT_TRUE(log.contains(QStringLiteral("a: deleted")));
    m_window->closeOpened();
    EXPECT_EQ(m_window->windowTitle(), QStringLiteral("start - Strata"));
}

TEST_F(WindowContentTest, WhatCannotBeOpenedSaysWhy)
{
    m_window->openFile(QStringLiteral("a"));
    Q_EMIT m_window->pending()->failed(
        { .kind = Notice::Kind::Error, .what = QStringLiteral("a: too large") }, true);
    EXPECT_FALSE(m_window->pending());
    ASSERT_EQ(m_window->banners().size(), 1);
    auto* anyway = m_window->banners().front()->findChild<QPushButton*>();
    ASSERT_TRUE(anyway);
    anyway->click();
    EXPECT_TRUE(m_window->pending()) << "asked for again";
    EXPECT_TRUE(m_window->banners().isEmpty());
    Q_EMIT m_window->pending()->cancelled();
    EXPECT_FALSE(m_window->pending());
    EXPECT_EQ(m_window->windowTitle(), QStringLiteral("start - Strata"));
}

TEST_F(WindowContentTest, AKindStandsBeforeWhatWasOpened)
{
    open("a");
    (void)takeLog();
    m_window->actions().kinds[1]->trigger();
    EXPECT_EQ(m_window->windowTitle(), QStringLiteral("ranks - Strata"));
    EXPECT_TRUE(takeLog().contains(QStringLiteral("ranks: before a")));
    WindowContent* ranks = &shown();
    m_window->actions().pages[1]->trigger(); // a place of what stands behind
    EXPECT_EQ(m_window->windowTitle(), QStringLiteral("a - Strata"));
    EXPECT_TRUE(takeLog().contains(QStringLiteral("a: second place")));
    Q_EMIT ranks->showWanted();
    EXPECT_EQ(&shown(), ranks) << "it was kept";
    Q_EMIT ranks->hoverText(QStringLiteral("here"));
    EXPECT_EQ(m_window->status().text(), QStringLiteral("here"));
    Q_EMIT m_window->opened()->hoverText(QStringLiteral("hidden"));
    EXPECT_EQ(m_window->status().text(), QStringLiteral("here")) << "of one that is not shown";
    m_window->actions().closeFile->trigger();
    EXPECT_EQ(m_window->windowTitle(), QStringLiteral("a - Strata")) << "left, not closed";
    m_window.reset();
    const QStringList log = takeLog();
    for (const char* name : { "start", "ranks", "a" })
        EXPECT_TRUE(log.contains(QLatin1String(name) + QStringLiteral(": deleted"))) << name;
}

} // namespace
