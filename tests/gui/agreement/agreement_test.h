// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/gui/shell/window_driver.h"
#include "tests/integration/run_strata.h"

#include "app/gui/contents.h"
#include "model/base/units.h"
#include "views/shell/theme.h"

#include <QSettings>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <memory>
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

    /// strata COMMAND FILE ARGUMENTS --json; a failure where it does not end well.
    [[nodiscard]] nlohmann::json json(
        const std::string& command, const std::vector<std::string>& arguments = {});
    [[nodiscard]] std::vector<nlohmann::json> rows(
        const std::string& command, const std::vector<std::string>& arguments = {}); ///< without the header
    /// What "Copy as command line" of a page gives, run by a shell with --json.
    [[nodiscard]] static Ran runAsCopied(const QString& commandLine);
    /// The lines of its output; a failure where it ends with another exit status than `code`.
    [[nodiscard]] static std::vector<nlohmann::json> runCopied(const QString& commandLine, int code = 0);

    /// Instants worth a look: the state before the trace, both ends, the middle, the peak, an out-of-memory.
    [[nodiscard]] std::vector<model::EventIndex> instants();
    void select(model::EventIndex event);

    [[nodiscard]] static QString bytes(const nlohmann::json& value);
    [[nodiscard]] static QString exact(const nlohmann::json& value);
    [[nodiscard]] static QString count(const nlohmann::json& value);

private:
    [[nodiscard]] Ran run(const std::string& command, const std::vector<std::string>& arguments);

    QTemporaryDir m_scratch;
    std::string m_path; // of the copy that is shown
    QSettings m_settings;
    views::Theme m_theme;
    views::ContentList m_contents = gui::windowContents();
    views::MainWindow m_window;
    std::optional<WindowDriver> m_driver;
};

/// A training, two devices, and out of memory in the newest format. With STRATA_ALL_RECORDINGS set, every
/// recording of tests/data (samples, versions and devices) and the sample sessions.
[[nodiscard]] std::vector<std::string> ourRecordings();
[[nodiscard]] std::string recordingName(const testing::TestParamInfo<std::string>& info);

} // namespace strata::test
