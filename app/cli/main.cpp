// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"
#include "app/cli/commands.h"
#include "app/cli/dryrun/dryrun.h"
#include "app/cli/record/record.h"

#include <csignal>
#include <string_view>
#include <unistd.h>

int main(int argc, char** argv)
{
    using namespace strata::cli;
    std::signal(SIGPIPE, SIG_IGN); // a reader that goes away ends us quietly, through Output::closed()
    if (argc > 1 && std::string_view(argv[1]) == "dryrun")
        return dryRunMain(argc - 1, argv + 1); // its own words behind --: they are the command's
    if (argc > 1 && std::string_view(argv[1]) == "record")
        return recordMain(argc - 1, argv + 1);
    Output out(STDOUT_FILENO);
    Output err(STDERR_FILENO);
    const auto parsed = parseArguments(argc, argv);
    if (!parsed)
        return complain(err, parsed.error());
    if (!parsed->options) {
        out.write(parsed->text);
        return kDone;
    }
    return run(*parsed->options, out, err);
}
