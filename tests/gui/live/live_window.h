// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/agent/agent.h"
#include "tests/capture/fake_allocator.h"
#include "tests/gui/shell/shell_test.h"
#include "views/contents/document/live_bar.h"
#include "views/models/live/live_source.h"
#include "views/pages/attach/attach_page.h"
#include "views/pages/attach/process_list.h"

#include <QTemporaryDir>

#include <memory>

namespace strata::test {

/// A window, and a recording of a fake allocator in this process at which it may look on.
class LiveWindow : public ShellTest {
protected:
    LiveWindow();
    ~LiveWindow() override;

    /// Begins to record, to a file too or for those who look on alone.
    void record(bool withFile);
    void stop();
    /// Allocates so many blocks and frees all but `kept` of them.
    void train(int blocks, int kept = 0);

    [[nodiscard]] views::AttachPage& attachPage();
    /// Makes this process the current one of the list, where it is there: this machine may have others.
    bool chooseOurs();
    /// Opens the page Attach, waits until the process is there, and attaches to it by keyboard.
    void attach();
    [[nodiscard]] views::LiveSource& live() { return *driver().documents()->active().live(); }
    [[nodiscard]] views::LiveBar& liveBar() { return *driver().documents()->active().liveBar(); }
    [[nodiscard]] std::int64_t shownEvents();
    [[nodiscard]] std::int64_t toldEvents() const; ///< of device 0, behind the base state
    [[nodiscard]] QString recording() const { return m_folder.filePath(QStringLiteral("run.strata")); }
    [[nodiscard]] QString place() const;

    QTemporaryDir m_folder;
    FakeAllocator m_allocator;
    agent::Agent* m_agent = nullptr;

private:
    QByteArray m_runtimeFolder;
};

} // namespace strata::test
