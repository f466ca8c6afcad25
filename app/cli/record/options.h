// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/recorder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

struct RecordOptions {
    std::string
        output; ///< the session, empty with `live`: none; other processes of the command write beside it
    bool overwrite = false; ///< replaces a session that is there already
    std::string stacks
        = "auto"; ///< auto (Python's; C++'s where a thread runs no Python), none, python, native
    std::int64_t ringEvents = 0; ///< room for each device; 0: as the recorder has it
    std::string kernels; ///< aside or shared, as the recorder takes it; empty: none
    bool operators = false; ///< of PyTorch too, where kernels are recorded
    int deepStep = 3; ///< number of the step of the training that is seen deeply, from 2 on; 0: none
    std::optional<std::int64_t> memoryBytes; ///< host memory of the recorder, at most
    launch::LiveSettings live; ///< others may look on
    std::string simulated; ///< card of the catalogue to simulate; empty: the real device
    std::optional<std::int64_t> capacityBytes; ///< of the simulated device, instead of the card's
    std::int64_t otherBytes = 0; ///< of it, that other processes hold
    int devices = 1; ///< simulated ones
    std::vector<std::string> command;
};

} // namespace strata::cli
