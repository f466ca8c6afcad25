// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/added_memory.h"

#include "model/base/units.h"
#include "model/session/save.h"
#include "tests/gui/fresh_start.h"
#include "tests/gui/timeline/page_test.h"
#include "tests/support/make_recording.h"
#include "views/pages/timeline/timeline_page.h"

#include <QDropEvent>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMimeData>
#include <QProcess>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace strata;
using namespace strata::views;

namespace {

constexpr std::int64_t kLaterNs = 7'000'000'000; ///< what the snapshot's clock is behind that of the trace
constexpr std::int64_t kBytes = 1'000'000; ///< requested, where the trace tells of 1 MiB

/// What the allocator did while test::tenSteps() ran, each call up to 300 ns
/// beside what the trace says; and 3 GB before that.
std::string ofTenSteps()
{
    std::string text = "alloc 0x90000000 3000000000 time=" + std::to_string(kLaterNs - 1'000'000'000) + "\n";
    int number = 0;
    for (int step = 0; step < 10; ++step)
        for (int i = 0; i < 4; ++i) {
            ++number;
            const std::int64_t ns = step * 1'000'000LL + 500'000 + 100'000LL * i + 10'000;
            text += "alloc " + std::to_string(4096 * number) + " " + std::to_string(kBytes)
                + " time=" + std::to_string(ns + kLaterNs + number % 4 * 100) + "\n";
        }
    return text;
}

class AddedMemoryTest : public test::TimelinePageShown {
protected:
    void open()
    {
        openTrace(test::tenSteps());
        m_trace = m_document.path();
    }
    [[nodiscard]] QString snapshot(const char* name, const std::string& text)
    {
        QString path = m_folder.filePath(QString::fromLatin1(name));
        EXPECT_TRUE(model::saveSession(*test::makeRecording(text), path.toStdString()));
        return path;
    }
    /// Has the page add it, and waits until it is there or refused, and shown.
    void add(const QString& path)
    {
        m_page.memoryAdder().add(path);
        ASSERT_TRUE(QTest::qWaitFor(
            [&] { return m_page.memoryAdder().adding().isEmpty() && !m_page.busy(); }, 20'000));
    }
    [[nodiscard]] QString line() const
    {
        return m_page.addedLine().isVisible()
            ? m_page.addedLine().text().replace(QChar(0xa0), QLatin1Char(' '))
            : QString();
    }
    /// What the memory below the lanes shows at its end.
    [[nodiscard]] model::WorkMemory::Range shownAtEnd() const
    {
        const model::WorkTracks& tracks = m_page.lanes().data()->tracks();
        return tracks.memory().front().range(tracks.lengthNs() - 1, tracks.lengthNs());
    }
    [[nodiscard]] QJsonObject told(const QString& added, const QStringList& more = {}) const
    {
        QProcess strata;
        strata.start(QStringLiteral(STRATA_PROGRAM),
            QStringList{ QStringLiteral("timeline"), m_trace, added, QStringLiteral("--json") } + more);
        EXPECT_TRUE(strata.waitForFinished(30'000));
        return QJsonDocument::fromJson(strata.readAllStandardOutput())
            .object()[QStringLiteral("ranks")]
            .toArray()[0]
            .toObject()[QStringLiteral("joined")]
            .toArray()[0]
            .toObject();
    }
    [[nodiscard]] QAction* action(const QString& text) const
    {
        for (QAction* each : m_page.pageActions())
            if (each->text() == text)
                return each;
        ADD_FAILURE() << "no action " << qPrintable(text);
        return nullptr;
    }

    QString m_trace;
};

TEST_F(AddedMemoryTest, DrawsTheMemoryOfASnapshotOnTheAxisOfTheTrace)
{
    open();
    EXPECT_TRUE(line().isEmpty());
    EXPECT_EQ(shownAtEnd().allocatedMax, 40 * 1'048'576);
    EXPECT_EQ(shownAtEnd().reservedMax, 67'108'864);
    add(snapshot("snapshot.strata", ofTenSteps()));
    ASSERT_TRUE(m_page.memoryAdder().added());
    EXPECT_EQ(shownAtEnd().allocatedMax, 3'000'000'000 + 40 * kBytes);
    const auto& lanes = *m_page.lanes().data();
    EXPECT_TRUE(lanes.tellsRequested(lanes.tracks().memory().front()));
    const auto half = lanes.tracks().memory().front().range(0, 3'505'000);
    EXPECT_EQ(half.allocatedMax, 3'000'000'000 + 12 * kBytes) << "of three steps";
    for (const char* part : { "snapshot.strata is added: offset -7.000 s, within",
             "by 40 of 40 allocations and frees", "GPU 0: requested peaks at 2.83 GiB at t:0.009810" })
        EXPECT_TRUE(line().contains(QString::fromUtf8(part))) << part << " in " << qPrintable(line());
    EXPECT_TRUE(m_page.commandLine().endsWith(QStringLiteral("/snapshot.strata")))
        << qPrintable(m_page.commandLine());
}

TEST_F(AddedMemoryTest, TheWindowWritesTheTraceThatTheCommandWrites)
{
    open();
    const QString added = snapshot("snapshot.strata", ofTenSteps());
    const auto written = [&](const QStringList& options) {
        const QString here = m_folder.filePath(QStringLiteral("here.json")),
                      there = m_folder.filePath(QStringLiteral("there.json"));
        QSignalSpy said(&m_page, &Page::hoverText), failed(&m_page, &Page::failed);
        m_page.saveTrace(here);
        EXPECT_TRUE(QTest::qWaitFor([&] { return said.count() + failed.count() > 0; }, 20'000));
        EXPECT_EQ(failed.count(), 0);
        EXPECT_EQ(QProcess::execute(QStringLiteral(STRATA_PROGRAM),
                      QStringList{ QStringLiteral("timeline"), m_trace } + options
                          + QStringList{ QStringLiteral("-o"), there }),
            0);
        QFile ours(here), theirs(there);
        EXPECT_TRUE(ours.open(QIODevice::ReadOnly) && theirs.open(QIODevice::ReadOnly));
        const QByteArray text = ours.readAll();
        EXPECT_EQ(text, theirs.readAll());
        return text;
    };
    const QByteArray alone = written({});
    add(added);
    const QByteArray both = written({ added });
    EXPECT_NE(alone, both);
    m_page.lanes().measure(Span{ 2'000'000, 4'000'000 });
    const QByteArray part = written({ added, QStringLiteral("--from"), QStringLiteral("t:0.002"),
        QStringLiteral("--to"), QStringLiteral("t:0.004") });
    EXPECT_LT(part.size(), both.size() / 2);
    QSignalSpy failed(&m_page, &Page::failed);
    m_page.saveTrace(m_folder.filePath(QStringLiteral("nowhere/trace.json")));
    EXPECT_TRUE(QTest::qWaitFor([&] { return failed.count() == 1; }, 20'000));
}

TEST_F(AddedMemoryTest, TheWindowAndTheCommandSayTheSame)
{
    open();
    const QString path = snapshot("snapshot.strata", ofTenSteps());
    add(path);
    ASSERT_TRUE(m_page.memoryAdder().added());
    const auto same = [&](const QJsonObject& told) {
        const model::MemoryJoin& join = m_page.memoryAdder().added()->join;
        const auto number = [](const QJsonObject& object, const char* key) {
            return object[QLatin1String(key)].toInteger(-1);
        };
        EXPECT_EQ(number(told, "offset_ns"), join.match.offsetNs);
        EXPECT_EQ(number(told, "error_ns"), join.match.errorNs);
        EXPECT_EQ(number(told, "matches"), join.match.matches);
        EXPECT_EQ(number(told, "among"), join.match.among);
        const WorkFigures figures = WorkFigures::of(m_page.lanes().data(),
            m_page.lanes().measured() ? std::optional(model::TimeSpan{ 2'000'000, 4'000'000 })
                                      : std::nullopt);
        ASSERT_EQ(figures.peaks.size(), 1u);
        const QJsonObject device = told[QStringLiteral("devices")].toArray()[0].toObject();
        EXPECT_EQ(number(device, "requested_bytes_peak"), figures.peaks[0].requestedBytes);
        EXPECT_EQ(number(device, "requested_peak_ns"), figures.peaks[0].requestedTimeNs);
        EXPECT_EQ(number(device, "requested_peak_event"), figures.peaks[0].requestedEvent);
        EXPECT_EQ(number(device, "reserved_bytes_peak"), figures.peaks[0].reservedBytes);
        const QString peak = QString::fromStdString(model::formatBytes(figures.peaks[0].requestedBytes));
        EXPECT_TRUE(line().contains(peak)) << qPrintable(peak) << " in " << qPrintable(line());
    };
    EXPECT_GT(m_page.memoryAdder().added()->join.match.errorNs, 0);
    same(told(path));
    m_page.lanes().measure(Span{ 2'000'000, 4'000'000 });
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    same(told(path,
        { QStringLiteral("--from"), QStringLiteral("t:0.002"), QStringLiteral("--to"),
            QStringLiteral("t:0.004") }));
    EXPECT_EQ(m_page.lanes().measured(), Span({ 2'000'000, 4'000'000 }));
}

TEST_F(AddedMemoryTest, IsRemoved)
{
    open();
    add(snapshot("snapshot.strata", ofTenSteps()));
    ASSERT_TRUE(m_page.memoryAdder().added());
    m_page.lanes().showSpan(Span{ 1'000'000, 2'000'000 });
    EXPECT_EQ(m_page.addedLine().button().text(), QStringLiteral("Remove"));
    EXPECT_TRUE(action(QStringLiteral("Remove What Was Added"))->isEnabled());
    QTest::mouseClick(&m_page.addedLine().button(), Qt::LeftButton);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }, 10'000));
    EXPECT_EQ(shownAtEnd().allocatedMax, 40 * 1'048'576);
    EXPECT_TRUE(line().isEmpty());
    EXPECT_FALSE(action(QStringLiteral("Remove What Was Added"))->isEnabled());
    EXPECT_FALSE(m_page.commandLine().contains(QStringLiteral("snapshot")));
    EXPECT_EQ(m_page.lanes().view(), Span({ 1'000'000, 2'000'000 })) << "what is in view stays";
}

TEST_F(AddedMemoryTest, RefusesAnotherRunAndSaysWhatToDo)
{
    open();
    std::string other;
    for (int i = 0; i < 40; ++i)
        other += "alloc " + std::to_string(8'000'000 + 4096 * i) + " 512 time=" + std::to_string(1000 * i)
            + "\n";
    add(snapshot("other.strata", other));
    EXPECT_FALSE(m_page.memoryAdder().added());
    for (const char* part : { "other.strata is not added:", "not of the same run", "take both in one run" })
        EXPECT_TRUE(line().contains(QString::fromUtf8(part))) << part << " in " << qPrintable(line());
    QTest::mouseClick(&m_page.addedLine().button(), Qt::LeftButton);
    EXPECT_TRUE(line().isEmpty());
}

TEST_F(AddedMemoryTest, WhatWasAddedStaysWhenAnotherIsRefused)
{
    open();
    add(snapshot("snapshot.strata", ofTenSteps()));
    const QString before = line();
    add(m_folder.filePath(QStringLiteral("nowhere.pickle")));
    EXPECT_TRUE(line().startsWith(QStringLiteral("nowhere.pickle is not added:"))) << qPrintable(line());
    EXPECT_EQ(shownAtEnd().allocatedMax, 3'000'000'000 + 40 * kBytes);
    m_page.memoryAdder().dismiss();
    EXPECT_EQ(line(), before);
}

TEST_F(AddedMemoryTest, RefusesATraceItself)
{
    open();
    add(m_trace);
    EXPECT_TRUE(line().contains(QStringLiteral("tells what ran when itself"))) << qPrintable(line());
}

TEST_F(AddedMemoryTest, IsCancelled)
{
    open();
    m_page.memoryAdder().add(snapshot("snapshot.strata", ofTenSteps()));
    EXPECT_FALSE(m_page.memoryAdder().adding().isEmpty());
    m_page.memoryAdder().cancel();
    ASSERT_TRUE(test::jobsEnd());
    EXPECT_FALSE(m_page.memoryAdder().added());
    EXPECT_TRUE(line().isEmpty());
    EXPECT_EQ(shownAtEnd().allocatedMax, 40 * 1'048'576);
}

TEST_F(AddedMemoryTest, TellsOfAFileThatIsReadForLong)
{
    open();
    const QString path = m_folder.filePath(QStringLiteral("slow.pickle"));
    ASSERT_EQ(mkfifo(path.toStdString().c_str(), 0600), 0);
    const int end = ::open(path.toStdString().c_str(),
        O_RDWR | O_CLOEXEC); // who writes nothing into it
    ASSERT_GE(end, 0);
    m_page.memoryAdder().add(path);
    EXPECT_TRUE(line().isEmpty()) << "it may be there in a moment";
    ASSERT_TRUE(QTest::qWaitFor([&] { return !line().isEmpty(); }, 20'000));
    EXPECT_TRUE(line().startsWith(QStringLiteral("Reading slow.pickle"))) << qPrintable(line());
    EXPECT_EQ(m_page.addedLine().button().text(), QStringLiteral("Cancel"));
    QTest::mouseClick(&m_page.addedLine().button(), Qt::LeftButton);
    EXPECT_TRUE(m_page.memoryAdder().adding().isEmpty());
    EXPECT_TRUE(line().isEmpty());
    ::close(end); // what waits to read it goes on
}

TEST_F(AddedMemoryTest, AnotherDocumentHasNothingAdded)
{
    open();
    add(snapshot("snapshot.strata", ofTenSteps()));
    ASSERT_TRUE(m_page.memoryAdder().added());
    m_document.open(QStringLiteral(STRATA_TEST_DATA "/samples/gpt2_124m_bf16_train.pickle.gz"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return m_document.state() == Document::State::Ready; }, 20'000));
    EXPECT_FALSE(m_page.memoryAdder().added());
    EXPECT_FALSE(action(QStringLiteral("Add to This Timeline…"))->isEnabled());
}

/// Drags files onto the page; whether it takes them, which is when it drops
/// them.
bool drag(TimelinePage& page, const QStringList& paths)
{
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths)
        urls.append(QUrl::fromLocalFile(path));
    data.setUrls(urls);
    QDragEnterEvent enter({ 500, 300 }, Qt::CopyAction, &data, Qt::LeftButton, {});
    enter.ignore();
    QApplication::sendEvent(&page, &enter);
    if (!enter.isAccepted())
        return false;
    QDropEvent drop(QPointF(500, 300), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(&page, &drop);
    return true;
}

TEST_F(AddedMemoryTest, TakesASnapshotThatIsDroppedAndLeavesTracesToTheWindow)
{
    const QString path = snapshot("snapshot.strata", ofTenSteps());
    EXPECT_FALSE(drag(m_page, { path })) << "nothing is open";
    open();
    EXPECT_FALSE(drag(m_page, { m_trace }));
    EXPECT_FALSE(drag(m_page, { path, path }));
    EXPECT_FALSE(drag(m_page, { m_folder.path() }));
    ASSERT_TRUE(drag(m_page, { path }));
    ASSERT_TRUE(QTest::qWaitFor([&] { return m_page.memoryAdder().added() != nullptr; }, 20'000));
}

} // namespace
