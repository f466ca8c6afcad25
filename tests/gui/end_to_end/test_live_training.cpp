// SPDX-License-Identifier: GPL-3.0-or-later
// A real training on the simulated device, watched in the real window: attach, follow, stand still, look
// back, out of memory, save, reopen.
#include "tests/gui/end_to_end/end_to_end_test.h"
#include "views/contents/attach_content.h"
#include "views/contents/document/live_bar.h"
#include "views/models/live/live_source.h"
#include "views/pages/attach/attach_page.h"
#include "views/pages/attach/process_list.h"
#include "views/shell/banner.h"

#include <QApplication>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>

#include <sys/stat.h>

using namespace strata;
using namespace strata::views;

namespace {

const QString kTraining = QStringLiteral(R"(
import os, sys, time, torch
folder = sys.argv[1]
model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
while not os.path.exists(os.path.join(folder, "end")):
    optimizer.zero_grad(set_to_none=True)
    model(torch.randn(64, 512, device="cuda")).sum().backward()
    optimizer.step()
    time.sleep(0.01)
    if os.path.exists(os.path.join(folder, "oom")):
        os.remove(os.path.join(folder, "oom"))
        try:
            torch.empty(64 << 30, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            pass
)");

class LiveTraining : public test::EndToEndTest {
protected:
    void SetUp() override
    {
        EndToEndTest::SetUp();
        m_python = qEnvironmentVariable("STRATA_TORCH_PYTHON").section(QLatin1Char(':'), 0, 0);
        if (m_python.isEmpty())
            GTEST_SKIP() << "no Python with PyTorch: STRATA_TORCH_PYTHON names one";
        chmod(qPrintable(m_folder.path()), 0700);
        m_before = qgetenv("XDG_RUNTIME_DIR");
        qputenv("XDG_RUNTIME_DIR", m_folder.path().toUtf8());
    }
    void TearDown() override
    {
        touch("end");
        if (m_training.state() != QProcess::NotRunning && !m_training.waitForFinished(20'000))
            m_training.kill();
        m_training.waitForFinished(1'000);
        EndToEndTest::TearDown();
        if (!m_python.isEmpty())
            qputenv("XDG_RUNTIME_DIR", m_before);
    }
    void touch(const char* name)
    {
        QFile file(m_folder.filePath(QLatin1String(name)));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    }
    void train()
    {
        m_training.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_training.setWorkingDirectory(m_folder.path());
        m_training.start(QStringLiteral(STRATA_PROGRAM),
            { QStringLiteral("record"), QStringLiteral("--live"), QStringLiteral("--simulated"),
                QStringLiteral("T4-16GB"), QStringLiteral("--"), m_python, QStringLiteral("-c"), kTraining,
                m_folder.path() });
        ASSERT_TRUE(m_training.waitForStarted());
    }
    LiveSource& live() { return *driver().documents()->active().live(); }
    std::int64_t shownEvents()
    {
        const auto device = driver().document().device();
        return device ? device->trace->eventCount() : 0;
    }

    QTemporaryDir m_folder;
    QString m_python;
    QByteArray m_before;
    QProcess m_training;
};

TEST_F(LiveTraining, IsWatchedFromTheFirstEventToTheLast)
{
    ASSERT_NO_FATAL_FAILURE(train());
    ASSERT_NO_FATAL_FAILURE(start({}));
    driver().key(Qt::Key_L, Qt::ControlModifier);
    auto& page
        = dynamic_cast<AttachContent&>(driver().window().kind(QLatin1String(AttachContent::kId))).page();
    ASSERT_TRUE(test::eventually([&] {
        page.list().setCurrentItem(page.list().topLevelItem(0)); // those that are live come first
        const auto chosen = page.list().chosen();
        return !chosen.empty() && chosen.front().state == model::ProcessState::Live && chosen.front().totals
            && !chosen.front().totals->devices.empty();
    }));
    page.list().setFocus();
    driver().key(Qt::Key_Return);
    ASSERT_TRUE(test::eventually([&] { return driver().documents() && shownEvents() > 1'000; }));

    // It follows.
    const std::int64_t first = shownEvents();
    ASSERT_TRUE(test::eventually([&] { return shownEvents() > first + 500; }));

    // It stands still while one looks back, and loses nothing.
    driver().key(Qt::Key_G, Qt::ControlModifier);
    ASSERT_FALSE(live().isFollowing());
    ASSERT_TRUE(test::eventually([&] { return driver().settled(); }));
    driver().view().goTo(0, 100);
    const std::int64_t still = shownEvents();
    ASSERT_TRUE(test::eventually([&] { return live().eventsBehind(0) > 500; }));
    EXPECT_EQ(shownEvents(), still);
    ASSERT_TRUE(driver().state().selection());
    EXPECT_EQ(driver().state().selection()->first, 100);

    // An out-of-memory is said though it stands still, and leads to its reason.
    touch("oom");
    ASSERT_TRUE(test::eventually([&] { return !driver().window().banners().isEmpty(); }));
    Banner& banner = *driver().window().banners().front();
    EXPECT_TRUE(test::shows(banner, QStringLiteral("ran out of memory on GPU 0: 64.0 GiB were asked for")));
    for (auto* button : banner.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Show Why"))
            test::WindowDriver::click(*button);
    ASSERT_TRUE(test::eventually([&] {
        const auto device = driver().document().device();
        return live().isFollowing() && device && !device->summary->outOfMemory.empty();
    }));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("summary"));
    ASSERT_TRUE(test::eventually(
        [&] { return test::shows(*driver().view().currentPage(), QStringLiteral("64.0 GiB")); }));

    // It ends: what is there is whole, and what is saved of it opens with the same figures.
    touch("end");
    ASSERT_TRUE(test::eventually([&] { return live().ended() && driver().settled(); }));
    EXPECT_EQ(live().status().state, model::LinkState::Ended);
    EXPECT_TRUE(driver().document().session()->exact());
    const std::int64_t events = shownEvents();
    const model::Totals totals = driver().device().trace->totals();
    const QString saved = m_folder.filePath(QStringLiteral("saved.strata"));
    const test::FileDialogAnswer answer(saved);
    driver().key(Qt::Key_W, Qt::ControlModifier | Qt::AltModifier);
    ASSERT_TRUE(test::eventually([&] { return QFile::exists(saved); }));
    driver().window().openFile(saved);
    ASSERT_TRUE(test::eventually([&] { return driver().showsFile(saved); }));
    EXPECT_EQ(shownEvents(), events);
    EXPECT_EQ(driver().device().trace->totals().requestedBytesPeak, totals.requestedBytesPeak);
    EXPECT_EQ(driver().device().trace->totals().reservedBytesPeak, totals.reservedBytesPeak);
    EXPECT_EQ(driver().device().trace->totals().allocatedBytesEnd, totals.allocatedBytesEnd);
    EXPECT_TRUE(driver().document().session()->exact());
}

} // namespace
