// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/program.h"
#include "tests/gui/shell/window_driver.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace strata::test {

[[nodiscard]] inline QString outOfMemorySample()
{
    return QStringLiteral(STRATA_SAMPLES "/gpt2_124m_bf16_oom_16gib.pickle.gz");
}
[[nodiscard]] inline QString trainingSample()
{
    return QStringLiteral(STRATA_SAMPLES "/gpt2_124m_bf16_train.pickle.gz");
}

/// Starts the program as main() does and drives its window on an X server. A picture of the screen is kept
/// when a test fails. The samples do not change, so tests state their figures.
class EndToEndTest : public testing::Test {
public:
    static void setSkipped(const std::string& reason) { s_skipped = reason; }

protected:
    void SetUp() override;
    void TearDown() override;

    /// strata-gui FILE...; waits until the window is there, active, and shows the last file.
    void start(const QStringList& files);
    [[nodiscard]] WindowDriver& driver() { return *m_driver; }
    [[nodiscard]] gui::Program& program() { return *m_program; }

private:
    static std::string s_skipped;

    std::unique_ptr<gui::Program> m_program;
    std::optional<WindowDriver> m_driver;
};

} // namespace strata::test
