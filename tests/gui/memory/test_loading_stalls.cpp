// SPDX-License-Identifier: GPL-3.0-or-later
// The window stays responsive while it loads: the event loop's longest turn must not grow with the file.
#include "app/gui/contents.h"
#include "views/contents/document/document_content.h"
#include "views/contents/document/document_view.h"
#include "views/shell/main_window.h"
#include "views/shell/theme.h"

#include <QElapsedTimer>
#include <QFile>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <gtest/gtest.h>

#include <ctime>

using namespace strata;
using namespace strata::views;

namespace {

/// A snapshot as JSON: `steps` times an allocation and what frees it, of many sizes and lines.
void writeSnapshot(const QString& path, int steps)
{
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    QByteArray text = R"({"segments":[],"device_traces":[[)";
    for (int i = 0; i < steps; ++i) {
        const QByteArray rest = R"(","addr":)" + QByteArray::number(0x10000000LL + (i % 977) * 1048576LL)
            + R"(,"size":)" + QByteArray::number(512 * (1 + i % 1931)) + R"(,"stream":0,"time_us":)";
        const QByteArray frames = R"(,"frames":[{"filename":"/home/me/train.py","line":)"
            + QByteArray::number(1 + i % 97) + R"(,"name":"step"}]})";
        for (int part = 0; part < 3; ++part) {
            const char* const actions[] = { "alloc", "free_requested", "free_completed" };
            const int at = 3 * i + part;
            text += (at == 0 ? R"({"action":")" : R"(,{"action":")") + QByteArray(actions[part]) + rest
                + QByteArray::number(at) + frames;
        }
        if (text.size() > (1 << 20)) {
            file.write(text);
            text.clear();
        }
    }
    file.write(text + "]]}");
}

double threadMs()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// Loads a file in a window of its own; the most that the GUI thread computes between two beats of a timer.
/// Processor time: what else runs on the machine does not count.
double longestTurnMs(const QString& path, QSettings& settings, Theme& theme)
{
    const ContentList contents = gui::windowContents();
    MainWindow window(theme, settings, contents);
    window.resize(1280, 800);
    window.show();
    QCoreApplication::processEvents();
    double longest = 0, last = threadMs();
    int beats = 0;
    QTimer heart;
    heart.setInterval(1);
    QObject::connect(&heart, &QTimer::timeout, &heart, [&] {
        longest = std::max(longest, threadMs() - last);
        last = threadMs();
        ++beats;
    });
    heart.start();
    window.openFile(path);
    EXPECT_TRUE(QTest::qWaitFor([&] { return DocumentContent::of(window) != nullptr; }, 60'000));
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            const DocumentPane& pane = DocumentContent::of(window)->active();
            if (!pane.document().device() || pane.document().working())
                return false;
            for (const Page* page : pane.view().pages())
                if (page->busy())
                    return false;
            return true;
        },
        60'000));
    QTest::qWait(20);
    EXPECT_GT(beats, 3);
    return longest;
}

} // namespace

TEST(LoadingStalls, DoNotGrowWithTheFile)
{
    const QTemporaryDir directory;
    QSettings settings(directory.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    Theme theme(*qApp);
    const QString small = directory.filePath(QStringLiteral("small.json")),
                  large = directory.filePath(QStringLiteral("large.json"));
    ASSERT_NO_FATAL_FAILURE(writeSnapshot(small, 40));
    ASSERT_NO_FATAL_FAILURE(writeSnapshot(large, 60'000));
    (void)longestTurnMs(small, settings, theme); // fonts and icons are loaded once
    const double ofSmall = longestTurnMs(small, settings, theme);
    const double ofLarge = longestTurnMs(large, settings, theme);
    // 1,500 times as many events: work for each of them would show as hundreds of milliseconds. Five times
    // the time of a small file is what a busy machine's caches may cost.
    EXPECT_LT(ofLarge, 5 * ofSmall + 50) << "small: " << ofSmall << " ms";
    std::printf(
        "longest turn of the event loop: %.1f ms with 120 events, %.1f ms with 180,000\n", ofSmall, ofLarge);
}
