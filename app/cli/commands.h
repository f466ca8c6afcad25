// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/output.h"

namespace strata::cli {

// Each runs one command: figures go to `out`, complaints to `err`. The exit code, or an error without the
// file's name.
[[nodiscard]] model::Result<int> runSummary(
    const std::string& file, const Options& options, Output& out, Output& err);
[[nodiscard]] model::Result<int> runCheck(
    const std::string& file, const Options& options, Output& out, Output& err);
[[nodiscard]] model::Result<int> runAt(
    const std::string& file, const Options& options, Output& out, Output& err);
[[nodiscard]] model::Result<int> runBlocks(
    const std::string& file, const Options& options, Output& out, Output& err);
[[nodiscard]] model::Result<int> runEvents(
    const std::string& file, const Options& options, Output& out, Output& err);
[[nodiscard]] model::Result<int> runRender(
    const std::string& file, const Options& options, Output& out, Output& err);
[[nodiscard]] model::Result<int> runConvert(
    const std::string& file, const Options& options, Output& out, Output& err);

[[nodiscard]] model::Result<int> runShare(
    const std::string& file, const Options& options, Output& out, Output& err);

[[nodiscard]] model::Result<int> runNotes(
    const std::string& file, const Options& options, Output& out, Output& err);
[[nodiscard]] model::Result<int> runSymbolize(const std::string& file, Output& out);

/// Runs the command on every file, prints its errors, and gives the exit code: the highest of all files.
[[nodiscard]] int run(const Options& options, Output& out, Output& err);

} // namespace strata::cli
