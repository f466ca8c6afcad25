// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/file_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace strata::cli {

void FileCommand::declareFile(CLI::App& app)
{
    app.add_option("FILE", m_file, "Recording to open")->required()->type_name("");
}

void FileCommand::declareFiles(CLI::App& app)
{
    app.add_option("FILE", m_files, "Recordings to open")->required()->type_name("");
}

model::Result<void> FileCommand::check()
{
    if (m_files.empty())
        m_files.push_back(m_file);
    if (std::find(m_files.begin(), m_files.end(), "-") != m_files.end())
        return model::fail(model::Error::Kind::Usage,
            model::say("standard input cannot be opened, since reading a recording needs to go back in it"),
            model::say("save it to a file and give that"));
    return checkOptions();
}

model::Result<int> FileCommand::run(Output& out, Output& err)
{
    int code = kDone;
    for (const std::string& file : m_files) {
        const model::Result<int> result = guarded([&] { return runOn(file, out, err); });
        out.flush();
        code = std::max(code, result.value_or(kDone));
        if (!result) {
            model::Error error = result.error();
            if (error.where.empty())
                error.where = file;
            printError(err, error);
            code = std::max(code, exitCodeOf(error));
        }
        if (out.closed())
            break;
    }
    return code;
}

} // namespace strata::cli
