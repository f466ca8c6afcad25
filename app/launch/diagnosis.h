// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/gpus.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::launch {

/// What may be done with a command on this machine.
struct Ability {
    enum class Answer : std::uint8_t {
        Yes,
        Simulated, ///< on a simulated device alone
        No,
    };

    std::string id; ///< "dry_run", for programs
    std::string name; ///< "dry run", for people
    Answer answer = Answer::No;
    std::string remark; ///< why not, and what to do; of others what is to be known
};

/// What this machine, and the PyTorch of one command, allow.
struct Diagnosis {
    std::vector<std::string> command;
    std::string program; ///< path of what is started; empty where it is not found
    std::string python; ///< path of the interpreter that tells the PyTorch; empty without one
    std::string pythonVersion; ///< "CPython 3.11.7"
    std::string torchVersion, torchFolder; ///< empty without one that can be followed
    std::string hook; ///< path; empty without one
    Gpus gpus;
    std::vector<Ability> abilities;

    /// The command can be recorded, on a simulated device at least, or dry-run.
    [[nodiscard]] bool isOfUse() const;
};

/// Tries everything but the command itself: runs its Python without importing torch, makes stand-ins,
/// compiles the hook where there is none (ten seconds, once). Without words the Python in PATH is the
/// command.
[[nodiscard]] Diagnosis diagnose(std::vector<std::string> words);

} // namespace strata::launch
