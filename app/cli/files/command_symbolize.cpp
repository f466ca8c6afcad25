// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/options.h"
#include "model/base/units.h"
#include "model/session/symbolize.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace strata::cli {

namespace {

class Symbolize final : public FileCommand {
public:
    Symbolize()
        : FileCommand(
            "symbolize", "Finds source and line of the C++ frames in a session, where its programs lie")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        app.footer("\nWhat it finds is added to the session, which then has it on every machine; nothing that was "
                   "recorded\nchanges. strata record and strata dryrun do this by themselves; other commands look up "
                   "the program's own\ncode where it lies on this machine.\n"
            + footer(Footer::ExitCodes));
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output&) override
    {
        const auto found = model::symbolize(file);
        if (!found)
            return model::Failure(found.error());
        if (found->places == 0)
            out.line("There are no frames of C++ whose source is not known.");
        else
            out.line(fmt::format("{} of {} places in the program's C++ code have a source and line now.",
                model::formatCount(found->withLine), model::formatCount(found->places)));
        return kDone;
    }
};

} // namespace

std::unique_ptr<Command> makeSymbolize()
{
    return std::make_unique<Symbolize>();
}

} // namespace strata::cli
