// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/programs/dry_run_job.h"

#include <QStringList>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace strata::test {

/// A document of `strata dryrun --json` as it was printed once: tests/data/dryrun/NAME.json.
[[nodiscard]] std::string recordedText(const char* name);

/// A Python whose PyTorch the dry run can use: the first of STRATA_TORCH_PYTHON (colon separated), else the
/// newest that the tests of the dry run keep in the cache. Empty: there is none, or nothing to put in front of it
/// (in instrumented builds), which is said.
[[nodiscard]] QString torchPython();

/// Processes with `word` among their arguments.
[[nodiscard]] QStringList processesWith(const QString& word);

/// A folder with programs to run, and a job with the built `strata`.
class DryRunTest : public testing::Test {
protected:
    /// Writes a program into the folder.
    QString program(const char* name, const QByteArray& content);
    /// A request for a command in the folder.
    [[nodiscard]] views::DryRunRequest request(const QString& command) const;
    /// Runs it to its end.
    views::DryRunOutcome run(const views::DryRunRequest& request);
    [[nodiscard]] QString recording() const { return m_folder.filePath(QStringLiteral("kept.strata")); }

    QTemporaryDir m_folder;
    views::DryRunJob m_job{ QStringLiteral(STRATA_PROGRAM) };
};

} // namespace strata::test
