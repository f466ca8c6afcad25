// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace strata::cli {

/// A command on recordings: runs on one file after the other; an error of one names it and does not keep the
/// next from being read. Its exit code is the highest of all files.
class FileCommand : public Command {
public:
    [[nodiscard]] model::Result<void> check() final;
    [[nodiscard]] model::Result<int> run(Output& out, Output& err) final;

protected:
    using Command::Command;

    void declareFile(CLI::App& app); ///< FILE
    void declareFiles(CLI::App& app); ///< FILE...

    /// As Command::check(); the words are known, the files are not opened.
    [[nodiscard]] virtual model::Result<void> checkOptions() { return {}; }
    /// The exit code, or an error without the file's name.
    [[nodiscard]] virtual model::Result<int> runOn(const std::string& file, Output& out, Output& err) = 0;

private:
    std::string m_file; // where it takes one alone
    std::vector<std::string> m_files;
};

} // namespace strata::cli
