// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

namespace strata::dryrun {

/// A moment of a run.
struct PeakMoment {
    std::int64_t event; ///< position in the trace of its device, from 0
    std::int64_t steps; ///< optimizer steps begun by then
};

/// What the tracker counts of one device, in bytes. Peaks are those of the whole run.
struct DevicePeaks {
    std::int64_t requested, requestedPeak; ///< what the program asked for and did not give back
    std::int64_t allocatedPeak; ///< the same, rounded
    std::int64_t
        allocatedIsLeast; ///< 1: the peak is the last allocation, whose rounding was not seen any more
    std::int64_t reserved, reservedPeak; ///< segments
    std::int64_t outOfMemories;
    std::int64_t firstRefused; ///< size of the first request that was refused
    std::int64_t neededAtLeast; ///< with what was refused, and requested then
    std::int64_t events;
    std::int64_t allocations;
    PeakMoment requestedPeakAt, reservedPeakAt; ///< the first time
};

/// What steps were counted by.
enum class StepSource : std::int32_t {
    None,
    Optimizer, ///< calls of an optimizer's step()
    Range ///< strata::capture::Step of the program
};

/// The file that a process keeps mapped while it runs, so that its peaks outlive however it ends.
struct ProcessPeaks {
    static constexpr char kMagic[8] = "strpeak";
    static constexpr std::uint32_t kVersion = 4;
    static constexpr int kMaxDevices = 64;

    char magic[8];
    std::uint32_t version;
    std::int32_t process;
    std::int32_t rank; ///< -1 where the environment does not say
    std::int32_t worldSize; ///< the same
    std::int32_t devices; ///< visible ones
    std::int32_t steps; ///< optimizer steps begun, of the optimizer object that made most
    std::int32_t allSteps; ///< of all optimizers together
    std::int32_t stepSource; ///< StepSource
    std::uint8_t ended; ///< 1: for having made the steps that were asked for
    std::uint8_t unseen; ///< 1: optimizers were trained with whose steps cannot be seen
    std::uint8_t weightsSkipped; ///< 1: weights were left as they were, by Python's side
    std::uint8_t unserved; ///< 1: a call of CUDA was made that the simulated device does not serve
    char torchVersion[64]; ///< as Python tells it; empty in a C++ program
    char torchFolder[1024]; ///< of LibTorch's libraries; empty where its name is longer
    DevicePeaks device[kMaxDevices];
};

/// Environment variables through which a launcher speaks to the preloaded library.
constexpr const char* kFolderVariable = "STRATA_DRYRUN_FOLDER"; ///< where peaks.PID goes
constexpr const char* kScriptVariable
    = "STRATA_DRYRUN_SCRIPT"; ///< Python that is run when torch begins to load
constexpr const char* kStepsVariable = "STRATA_DRYRUN_STEPS"; ///< to be made; 0: as many as there are
constexpr const char* kTimeVariable = "STRATA_DRYRUN_TIME"; ///< 1: work.PID is told too (step_work.h)
constexpr const char* kHookVariable = "STRATA_DRYRUN_HOOK"; ///< path of a hook, for
constexpr const char* kHookTorchVariable = "STRATA_DRYRUN_HOOK_TORCH"; ///< the LibTorch in this folder

} // namespace strata::dryrun
