// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/inject/process_image.h"
#include "model/base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace strata::launch {

/// Where an injection works in a process.
struct InjectionPlaces {
    std::uint64_t loadLibrary = 0, findSymbol = 0, lastError = 0; ///< dlopen, dlsym, dlerror
    /// Through which LibTorch calls cudaGetDevice, which it does before it allocates, and holds no lock of
    /// the C library's then.
    std::uint64_t callPlace = 0;
    LoadedFile allocator; ///< of LibTorch: the file that calls there
};

enum class InjectionPurpose : std::uint8_t {
    Record, ///< from now on
    End, ///< what is recorded, whoever began it
};

/// A process that can be recorded from now on, and all that was found out about it.
struct InjectionPlan {
    InjectionPurpose purpose = InjectionPurpose::Record;
    pid_t process = 0;
    std::string startedAt; ///< of the process, by which it is known again: numbers are used again
    uid_t owner = 0;
    std::string command; ///< for people: "python train.py"
    std::string torchVersion; ///< "2.15.0+cu132"; empty where nothing tells it
    bool isPython = false;
    std::filesystem::path recorder; ///< that is loaded into it
    InjectionPlaces places;

    /// What is about to be done, for the user to agree to.
    [[nodiscard]] std::vector<model::Sentence> sentences() const;
};

/// Whether the recorder can be brought into a process, without doing anything to it: permission,
/// architecture, container, its LibTorch and the hook for that (which is compiled now where there is none:
/// ten seconds, once, said on stderr), that nothing traces it, and that it is not recorded already, or is,
/// for its end. Otherwise some milliseconds. The error says which of them and what to do.
[[nodiscard]] model::Result<InjectionPlan> checkInjection(
    pid_t process, InjectionPurpose purpose = InjectionPurpose::Record);

/// Why a process of this user cannot be looked into, and what to do: by ptrace_scope (the text of
/// /proc/sys/kernel/yama/ptrace_scope, empty without one) and whether this process is root.
[[nodiscard]] model::Error whyNoAccess(pid_t process, const std::string& ptraceScope, bool isRoot);

/// What keeps this user from injecting into any process of his, and what to do; empty: nothing does.
[[nodiscard]] std::string whyNoInjection();

} // namespace strata::launch
