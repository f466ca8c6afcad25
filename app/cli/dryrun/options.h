// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/recorder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// What `strata dryrun` is asked to do.
struct DryRunOptions {
    std::string device = "A100-80GB";
    std::optional<std::int64_t> capacityBytes;
    int devices = 1;
    std::optional<int> rank; ///< run as this rank of worldSize, alone on this machine
    int worldSize = 1;
    std::optional<std::string> allocatorSettings; ///< replaces the user's own; empty removes them
    int steps = 0; ///< 0: until the program ends
    bool skipInit = true;
    std::string addresses = "top-down"; ///< order of device addresses
    bool onEachCard = false; ///< run on cards of each other compute capability too
    bool spread = false; ///< run other orders too, to see how far reserved moves
    std::vector<std::string> changes; ///< "amp=bf16", all applied together in a second run
    std::vector<std::string> fit; ///< "BATCH=1..512": find the largest that fits
    bool kernels = false; ///< what is recorded has them
    bool operators = false; ///< and PyTorch's operators
    int deepStep = 3; ///< as RecordOptions::deepStep, where a recording is kept
    launch::LiveSettings live; ///< others may look on at each run that is recorded
    bool time = false; ///< tell how long a step takes at least
    std::string output; ///< where the recording goes, .strata or .pickle; empty: nowhere
    bool overwrite = false; ///< replaces a file that is there already
    bool json = false;
    std::vector<std::string> command;

    // Of one run of several; no option of the command line.
    std::string log; ///< file that takes the command's output; empty: it is passed on
    bool record = true; ///< make a recording
};

} // namespace strata::cli
