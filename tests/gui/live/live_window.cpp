// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/live/live_window.h"

#include "views/contents/attach_content.h"

#include <QDir>

#include <sys/stat.h>
#include <unistd.h>

namespace strata::test {

using namespace views;

LiveWindow::LiveWindow()
    : m_runtimeFolder(qgetenv("XDG_RUNTIME_DIR"))
{
    chmod(qPrintable(m_folder.path()), 0700);
    qputenv("XDG_RUNTIME_DIR", m_folder.path().toUtf8());
    QDir(m_folder.path()).mkdir(QStringLiteral("strata"));
    chmod(qPrintable(m_folder.filePath(QStringLiteral("strata"))), 0700);
}

LiveWindow::~LiveWindow()
{
    m_window.reset();
    if (m_agent)
        m_agent->stop();
    qputenv("XDG_RUNTIME_DIR", m_runtimeFolder);
}

void LiveWindow::record(bool withFile)
{
    // As in a process it is there for good: hooks may call it until the end.
    static auto& all = *new std::vector<agent::Agent*>;
    m_agent = all.emplace_back(new agent::Agent(m_allocator.hook(), FakeAllocator::kDevices));
    agent::AgentOptions options;
    options.file = withFile ? recording().toStdString() : "";
    options.ringEvents = 1 << 18;
    options.live = agent::LiveOptions{};
    options.live->folder = m_folder.filePath(QStringLiteral("strata")).toStdString();
    ASSERT_TRUE(m_agent->start(options,
        { { "format", "test" }, { "pid", std::to_string(getpid()) },
            { "command", "/usr/bin/python3 -u train.py --epochs 3" }, { "rank", "3" },
            { "world_size", "8" } }));
}

void LiveWindow::stop()
{
    m_agent->stop();
    m_agent = nullptr;
}

void LiveWindow::train(int blocks, int kept)
{
    std::vector<std::uint64_t> held;
    for (int i = 0; i < blocks; ++i)
        held.push_back(m_allocator.allocate(0, 512 * (1 + i % 100)));
    for (std::size_t i = static_cast<std::size_t>(kept); i < held.size(); ++i)
        m_allocator.release(0, held[i]);
}

AttachPage& LiveWindow::attachPage()
{
    return dynamic_cast<AttachContent&>(window().kind(QLatin1String(AttachContent::kId))).page();
}

bool LiveWindow::chooseOurs()
{
    ProcessList& list = attachPage().list();
    for (int i = 0; i < list.topLevelItemCount(); ++i)
        if (list.topLevelItem(i)->toolTip(0).startsWith(m_folder.path())) {
            list.setCurrentItem(list.topLevelItem(i));
            return true;
        }
    return false;
}

void LiveWindow::attach()
{
    driver().key(Qt::Key_L, Qt::ControlModifier);
    ASSERT_TRUE(eventually([&] { return chooseOurs(); }));
    driver().key(Qt::Key_Return);
    ASSERT_TRUE(eventually([&] { return driver().documents() && driver().settled(); }));
}

QString LiveWindow::place() const
{
    return QStringLiteral("live:%1/strata/%2.sock").arg(m_folder.path()).arg(getpid());
}

std::int64_t LiveWindow::shownEvents()
{
    const auto device = driver().document().device();
    return device ? device->trace->eventCount() : -1;
}

std::int64_t LiveWindow::toldEvents() const
{
    return static_cast<std::int64_t>(m_allocator.log(0).size() - m_allocator.loggedBefore(0, 0));
}

} // namespace strata::test
