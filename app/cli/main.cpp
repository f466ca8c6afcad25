// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/program.h"

#include <csignal>
#include <unistd.h>

int main(int argc, char** argv)
{
    using namespace strata::cli;
    std::signal(SIGPIPE, SIG_IGN); // a reader that goes away ends us quietly, through Output::closed()
    Commands commands;
#define STRATA_MAKE_COMMAND(NAME) commands.push_back(make##NAME());
    STRATA_COMMANDS(STRATA_MAKE_COMMAND)
#undef STRATA_MAKE_COMMAND
    Output out(STDOUT_FILENO);
    Output err(STDERR_FILENO);
    return runProgram(argc, argv, commands, out, err);
}
