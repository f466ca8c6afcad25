// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

// Every command of strata, in the order of its help: NAME is made by makeNAME(), in a file of its own. A new
// one is a line here.
#define STRATA_COMMANDS(NAME)                                                                                \
    NAME(Summary)                                                                                            \
    NAME(Check)                                                                                              \
    NAME(At)                                                                                                 \
    NAME(Blocks)                                                                                             \
    NAME(Events)                                                                                             \
    NAME(Steps)                                                                                              \
    NAME(Oom)                                                                                                \
    NAME(State)                                                                                              \
    NAME(Ledger)                                                                                             \
    NAME(Fragmentation)                                                                                      \
    NAME(Leaks)                                                                                              \
    NAME(Timeline)                                                                                           \
    NAME(Replay)                                                                                             \
    NAME(WhatIf)                                                                                             \
    NAME(Render)                                                                                             \
    NAME(Convert)                                                                                            \
    NAME(Share)                                                                                              \
    NAME(Notes)                                                                                              \
    NAME(Symbolize)                                                                                          \
    NAME(Record)                                                                                             \
    NAME(List)                                                                                               \
    NAME(Attach)                                                                                             \
    NAME(DryRun)                                                                                             \
    NAME(Doctor)

namespace strata::cli {

#define STRATA_DECLARE_COMMAND(NAME) [[nodiscard]] std::unique_ptr<Command> make##NAME();
STRATA_COMMANDS(STRATA_DECLARE_COMMAND)
#undef STRATA_DECLARE_COMMAND

} // namespace strata::cli
