// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/gui/our_recordings.h"
#include "tests/gui/shell/window_driver.h"
#include "tests/integration/run_strata.h"

#include "app/gui/contents.h"
#include "model/base/units.h"
#include "views/shell/theme.h"

#include <QSettings>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::test {

/// A window with one of our recordings beside the command line with the same file: what the one shows, the
/// other must print. Both programs are the built ones' code; the figures travel by way of texts and JSON.
class AgreementTest : public testing::TestWithParam<std::string> {
protected:
    AgreementTest();
    void SetUp() override;

    [[nodiscard]] WindowDriver& driver() { return *m_driver; }
    [[nodiscard]] const model::DeviceTrace& trace() { return *driver().device().trace; }
    void settle();
    [[nodiscard]] const std::string& path() const { return m_path; } ///< of the copy that is shown
    void open(const QString& path); ///< the window shows it, and commands are of it

    /// What a command of the command line printed as JSON.
    struct Answer {
        int code = 0;
        std::string said; ///< of an error
        std::vector<nlohmann::json> lines;
        [[nodiscard]] const nlohmann::json& head() const { return lines.front(); }
    };
    /// A command line as "Copy as Command Line" gives it, with --json; each is run once by a shell.
    const Answer& ask(const QString& line);
    const Answer& ask(const char* command, const QString& options); ///< of the file that is shown
    [[nodiscard]] QString ofDevice() { return QStringLiteral("--device %1").arg(driver().state().device()); }

    /// Instants worth a look: the state before the trace, both ends, the middle, the peak, an out-of-memory.
    [[nodiscard]] std::vector<model::EventIndex> instants();
    void select(model::EventIndex event);

private:
    QTemporaryDir m_scratch;
    std::string m_path; // of the copy that is shown
    QSettings m_settings;
    views::Theme m_theme;
    views::ContentList m_contents = gui::windowContents();
    views::MainWindow m_window;
    std::optional<WindowDriver> m_driver;
    std::map<QString, Answer> m_answers;
};

} // namespace strata::test
