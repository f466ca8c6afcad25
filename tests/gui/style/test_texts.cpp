// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/elided_name.h"
#include "views/style/texts.h"

#include "tests/support/make_recording.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"

#include <QDir>
#include <QLabel>
#include <QPushButton>

#include <gtest/gtest.h>

using namespace strata;
namespace text = views::text;
using text::Keep;

namespace {

TEST(Texts, FiguresAreThoseOfTheCommandLine)
{
    EXPECT_EQ(text::bytes(1536).toStdString(), model::formatBytes(1536));
    EXPECT_EQ(text::exactBytes(1234567).toStdString(), model::formatExactBytes(1234567));
    EXPECT_EQ(text::share(1, 3), QStringLiteral("33.3 %"));
    EXPECT_EQ(text::share(1, 30000), QStringLiteral("< 0.1 %"));
    EXPECT_EQ(
        text::counted(1, QStringLiteral("1 frame"), QStringLiteral("%1 frames")), QStringLiteral("1 frame"));
    EXPECT_EQ(text::counted(1234, QStringLiteral("1 frame"), QStringLiteral("%1 frames")),
        QStringLiteral("1,234 frames"));
    EXPECT_EQ(text::seconds(12'384'123'999), QStringLiteral("12.384123"));
    EXPECT_EQ(text::seconds(-1'500'000), QStringLiteral("-0.001500"));
}

TEST(Texts, AnInstantIsAnEventAndItsTime)
{
    EXPECT_EQ(text::event(41207), QStringLiteral("event 41,207"));
    EXPECT_EQ(text::event(-1), QStringLiteral("before the first event"));
    EXPECT_EQ(text::instant(41207, 12'384'000'000), QStringLiteral("event 41,207 at 12.384 s"));
    EXPECT_EQ(text::instant(41207, std::nullopt), QStringLiteral("event 41,207"));
    EXPECT_EQ(text::instant(-1, 0), QStringLiteral("before the first event"));

    const auto timed
        = test::makeRecording("alloc 0x1000 1 time=5000000000\nalloc 0x2000 1 time=5250000000\n");
    const auto trace = model::DeviceTrace::build(*timed, timed->devices.front(), {});
    EXPECT_EQ(text::instant(model::Clock(*trace), 1), QStringLiteral("event 1 at 250.0 ms"));
    EXPECT_EQ(text::instant(model::Clock(*trace), -1), QStringLiteral("before the first event"));
    const auto untimed = test::makeRecording("alloc 0x1000 1\n");
    const auto bare = model::DeviceTrace::build(*untimed, untimed->devices.front(), {});
    EXPECT_EQ(text::instant(model::Clock(*bare), 0), QStringLiteral("event 0"));
}

TEST(Texts, LongOnesKeepTheEndThatSaysMore)
{
    const QString path = QStringLiteral("/home/u/model.py:57");
    EXPECT_EQ(text::shortened(path, 19, Keep::End), path);
    EXPECT_EQ(text::shortened(path, 12, Keep::End), QStringLiteral("…model.py:57"));
    EXPECT_EQ(text::shortened(path, 6, Keep::Beginning), QStringLiteral("/home…"));
    // No character is cut in two.
    const QString rocks = QStringLiteral("🪨🪨🪨");
    EXPECT_EQ(text::shortened(rocks, 4, Keep::Beginning), QStringLiteral("🪨…"));
    EXPECT_EQ(text::shortened(rocks, 4, Keep::End), QStringLiteral("…🪨"));
    EXPECT_EQ(text::shortened(rocks, 1, Keep::End), QStringLiteral("…"));
}

TEST(Texts, CutTextsOfFilesBetweenCharacters)
{
    EXPECT_EQ(text::shortened("шаг 1", 5), QStringLiteral("шаг 1"));
    EXPECT_EQ(text::shortened("шаг 12", 5), QStringLiteral("шаг …"));
    EXPECT_EQ(text::shortened("", 5), QString());
    for (const char* character : { "a", "é", "層", "🪨", "\xff" }) {
        std::string whole;
        for (int i = 0; i < 5000; ++i)
            whole += character;
        const QString one = text::utf8(character);
        for (const qsizetype most : { 1, 2, 3, 8, 300, 4000 }) {
            SCOPED_TRACE(one.toStdString() + " " + std::to_string(most));
            const QString cut = text::shortened(whole, most);
            EXPECT_LE(cut.size(), most);
            EXPECT_GE(cut.size(), most - (one.size() - 1));
            EXPECT_EQ(cut, one.repeated((cut.size() - 1) / one.size()) + QStringLiteral("…"));
        }
    }
}

TEST(Texts, SentencesOfRichTextKeepTheirElements)
{
    const QString first = QStringLiteral("<b>6.53 GiB</b> at <a href=\"event:9\">a. b</a>.");
    const QString second = QStringLiteral("Biggest: <b>1.5. GiB</b>.");
    EXPECT_EQ(text::sentences(first + QLatin1Char(' ') + second), (QStringList{ first, second }));
    EXPECT_EQ(text::sentences(QStringLiteral("one")), QStringList{ QStringLiteral("one") });
    EXPECT_TRUE(text::sentences(QString()).isEmpty());
    EXPECT_EQ(text::sentences(QStringLiteral("a < b. c")).join(QLatin1Char(' ')), QStringLiteral("a < b. c"))
        << "broken markup loses nothing";
}

TEST(Texts, StreamsAreNumbersOrHandles)
{
    const auto recording
        = test::makeRecording("alloc 0x1000 1 stream=7\nalloc 0x2000 1 stream=0x55d000000010\n");
    const auto& streams = recording->devices.front().events.stream;
    EXPECT_EQ(text::stream(*recording, streams[0]), QStringLiteral("7"));
    EXPECT_EQ(text::stream(*recording, streams[1]), QStringLiteral("0x55d000000010"));
    EXPECT_EQ(text::stream(*recording, model::kNoIndex), QString());
}

TEST(Texts, StacksAreALineAFrame)
{
    const auto recording = test::makeRecording("alloc 0x1000 1 stack=f@a.py:1|g@b.py:2\n");
    EXPECT_EQ(text::stack(*recording, recording->devices.front().events.stack[0]),
        QStringLiteral("f  a.py:1\ng  b.py:2"));
}

TEST(Texts, TheUsersHomeIsShort)
{
    EXPECT_EQ(text::homeShort(QDir::homePath() + QStringLiteral("/runs/a.strata")),
        QStringLiteral("~/runs/a.strata"));
    EXPECT_EQ(text::homeShort(QDir::homePath() + QStringLiteral("other")),
        QDir::homePath() + QStringLiteral("other"));
}

TEST(Labels, WordsOfAFileAreNoMarkup)
{
    const std::unique_ptr<QLabel> label(views::textLabel(QStringLiteral("<b>x</b>"), true));
    EXPECT_EQ(label->textFormat(), Qt::PlainText);
    EXPECT_TRUE(label->property("muted").toBool());
    EXPECT_TRUE(label->wordWrap());
    const std::unique_ptr<QLabel> heading(views::headingLabel(QStringLiteral("Waste")));
    EXPECT_TRUE(heading->font().bold());
    const std::unique_ptr<QPushButton> link(views::linkButton(QStringLiteral("event 7")));
    EXPECT_TRUE(link->property("link").toBool());
    EXPECT_LE(link->sizeHint().width(), link->maximumWidth());
}

TEST(Type, SizesFollowTheFontOfTheApplication)
{
    QFont font;
    font.setPixelSize(views::kBodyPx);
    EXPECT_EQ(views::scaled(264, font), 264);
    EXPECT_EQ(views::sized(font, views::kAxisPx).pixelSize(), views::kAxisPx);
    font.setPixelSize(2 * views::kBodyPx);
    EXPECT_EQ(views::scaled(264, font), 528);
    EXPECT_DOUBLE_EQ(views::scaleOf(font), 2.0);
    EXPECT_EQ(views::sized(font, views::kAxisPx).pixelSize(), 2 * views::kAxisPx);
    EXPECT_TRUE(views::bold(font).bold());
}

TEST(Texts, AStepKeepsItsNumberWhereItsNameHasNoRoom)
{
    const QFontMetricsF metrics{ QFont() };
    const auto elided = [&](const char* name, const QString& room) {
        return views::elidedName(metrics, QString::fromLatin1(name), metrics.horizontalAdvance(room) + 1);
    };
    EXPECT_EQ(elided("step 12", QStringLiteral("step 12")), QStringLiteral("step 12"));
    EXPECT_EQ(elided("step 12", QStringLiteral("12")), QStringLiteral("12"));
    EXPECT_EQ(elided("ProfilerStep#12", QStringLiteral("12")), QStringLiteral("12"));
    EXPECT_TRUE(elided("optimizer", QStringLiteral("opti")).endsWith(QChar(0x2026)));
}

} // namespace
