// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/quick_text.h"

#include <QApplication>
#include <QImage>
#include <QPainter>

#include <gtest/gtest.h>

using strata::views::QuickText;

namespace {

class QuickTextTest : public testing::Test {
protected:
    QuickTextTest()
        : m_image(400, 40, QImage::Format_RGB32)
        , m_text(QApplication::font())
    {
        m_image.fill(Qt::white);
    }

    double draw(QStringView text, double room)
    {
        QPainter painter(&m_image);
        painter.setPen(Qt::black);
        return m_text.drawElided(painter, 0, 20, room, text);
    }

    /// The last column with ink.
    int inkEnd() const
    {
        for (int x = m_image.width() - 1; x >= 0; --x) {
            for (int y = 0; y < m_image.height(); ++y) {
                if (m_image.pixel(x, y) != qRgb(255, 255, 255))
                    return x;
            }
        }
        return -1;
    }

    QImage m_image;
    QuickText m_text;
};

TEST_F(QuickTextTest, IsAsWideAsItDraws)
{
    const double width = draw(u"forward model.py:57", 400);
    EXPECT_DOUBLE_EQ(width, m_text.width(u"forward model.py:57"));
    EXPECT_GT(inkEnd(), width * 0.8);
    EXPECT_LE(inkEnd(), width + 1);
}

TEST_F(QuickTextTest, NeverDrawsBeyondItsRoom)
{
    for (const double room : { 10.0, 25.0, 60.0, 61.3 }) {
        m_image.fill(Qt::white);
        EXPECT_LE(draw(u"a_rather_long_function_name", room), room);
        EXPECT_LE(inkEnd(), room + 1);
    }
    m_image.fill(Qt::white);
    EXPECT_EQ(draw(u"long name", 4), 0);
    EXPECT_EQ(inkEnd(), -1);
}

TEST_F(QuickTextTest, TakesTextsBeyondLatin)
{
    const QString chinese = QString::fromUtf8("训练.py");
    EXPECT_GT(m_text.width(chinese), m_text.width(u".py"));
    EXPECT_LE(draw(chinese, 30), 30);
}

} // namespace
