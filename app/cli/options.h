// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/grouping.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

enum ExitCode : int {
    kDone = 0, ///< whatever the verdict
    kFailed = 1, ///< a check or a limit failed, or the recording has nothing at the position asked for
    kUsage = 2,
    kUnreadable = 3,
};

enum class Command : std::uint8_t {
    Summary,
    Check,
    At,
    Blocks,
    Events,
    Render,
    Convert,
    Share,
    Notes,
    Symbolize
};

/// What the user asked for. Each command reads the fields that its help names.
struct Options {
    Command command = Command::Summary;
    std::vector<std::string> files; ///< one at least; several for summary and check alone
    std::optional<int> device;
    std::string from, to; ///< positions; empty: the whole trace
    bool json = false;
    bool force = false; ///< read what unpacks to more than half of this machine's memory

    std::optional<std::int64_t> maxPeakBytes; // summary

    std::string position; // at
    model::Grouping grouping = model::Grouping::Line; // at

    std::optional<std::int64_t> limit; ///< rows; none: as many as fit a person or a program; 0: all
    bool frames = false; // blocks, events

    std::string outputFile; // convert, share
    std::vector<std::string> drop; // share
    std::optional<std::string> addNote; // notes: its text
    std::string removeNote; // notes: its id; empty: none
    std::string outputDirectory; // render
    std::string page; // render; empty: every page
    std::string size; // render: "1920x1080"
    std::string theme; // render; empty: as the window has it
    int scale = 1; // render
    bool svg = false; // render
};

} // namespace strata::cli
