// SPDX-License-Identifier: GPL-3.0-or-later
// The list of shortcuts shows each in full, whatever the screen and the size of its texts.
#include "tests/gui/shell/shell_test.h"
#include "views/shell/actions.h"
#include "views/shell/shortcut_list.h"
#include "views/style/type.h"

#include <QDialog>
#include <QLabel>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>

using namespace strata;
using namespace strata::views;

namespace {

class ShortcutListTest : public test::ShellTest {
protected:
    void TearDown() override { qApp->setFont(m_font); }
    void setScale(double scale)
    {
        QFont font = m_font;
        font.setPixelSize(qRound(kBodyPx * scale));
        qApp->setFont(font);
    }
    /// No text reaches beyond its label, and no label beyond what is shown.
    static void expectInFull(QScrollArea& area)
    {
        EXPECT_FALSE(area.horizontalScrollBar()->isVisible());
        int seen = 0;
        for (const auto* label : area.findChildren<QLabel*>()) {
            if (!label->isVisible())
                continue;
            ++seen;
            const int left = label->mapTo(area.viewport(), QPoint()).x();
            EXPECT_GE(left, 0) << qPrintable(label->text());
            EXPECT_LE(left + label->width(), area.viewport()->width()) << qPrintable(label->text());
            const QFontMetrics metrics(label->font());
            for (const QString& word : label->text().simplified().split(QLatin1Char(' ')))
                EXPECT_LE(metrics.horizontalAdvance(word), label->width()) << qPrintable(label->text());
            EXPECT_GE(label->height(), label->heightForWidth(label->width())) << qPrintable(label->text());
        }
        EXPECT_GT(seen, 80);
    }

    const QFont m_font = qApp->font();
};

TEST_F(ShortcutListTest, IsNotCutAtAnyScale)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    const QSize screen = window().screen()->availableSize();
    for (const double scale : { 1.0, 1.5, 2.0 }) {
        SCOPED_TRACE(scale);
        setScale(scale);
        window().actions().shortcuts->trigger();
        auto* dialog = window().findChild<QDialog*>();
        ASSERT_TRUE(dialog);
        QCoreApplication::processEvents();
        EXPECT_LE(dialog->width(), screen.width());
        EXPECT_LE(dialog->height(), screen.height());
        expectInFull(*dialog->findChild<QScrollArea*>());
        delete dialog;
    }
}

TEST_F(ShortcutListTest, HasAsManyColumnsAsThereIsRoomFor)
{
    ShortcutList list;
    for (int i = 0; i < 6; ++i)
        list.addTable(QStringLiteral("Part %1").arg(i),
            { { QStringLiteral("Show the next thing"), QStringLiteral("Ctrl+Shift+F%1").arg(i) } });
    for (const int columns : { 1, 2, 3, 2, 1 }) {
        list.arrange(list.widthOf(columns));
        EXPECT_EQ(list.columns(), columns);
        EXPECT_EQ(list.findChildren<QLabel*>().size(), 18);
    }
    list.arrange(10);
    EXPECT_EQ(list.columns(), 1);
}

} // namespace
