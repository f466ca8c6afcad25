// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace strata::inject {

/// Environment variables through which `strata record` speaks to the preloaded library and its Python side.
constexpr const char* kFileVariable
    = "STRATA_RECORD_FILE"; ///< without it and without kLiveVariable nothing is recorded
constexpr const char* kAgentVariable = "STRATA_RECORD_AGENT"; ///< path of libstrata_capture.so
constexpr const char* kScriptVariable
    = "STRATA_RECORD_SCRIPT"; ///< Python that is run when torch begins to load
constexpr const char* kStacksVariable = "STRATA_RECORD_STACKS"; ///< auto, none, python or native
constexpr const char* kRingVariable = "STRATA_RECORD_RING"; ///< events
constexpr const char* kMemoryVariable = "STRATA_RECORD_MEMORY"; ///< bytes
constexpr const char* kListVariable = "STRATA_RECORD_LIST"; ///< file that gets a line for each session made
constexpr const char* kSimulatedVariable = "STRATA_RECORD_SIMULATED"; ///< JSON of the device, if simulated

constexpr const char* kLiveVariable = "STRATA_RECORD_LIVE"; ///< 1: others may look on
constexpr const char* kLivePortVariable
    = "STRATA_RECORD_LIVE_PORT"; ///< of 127.0.0.1, 0: a free one; empty: none
constexpr const char* kLiveMemoryVariable = "STRATA_RECORD_LIVE_MEMORY"; ///< bytes; 0: as the recorder has it

constexpr const char* kKernelsVariable = "STRATA_RECORD_KERNELS"; ///< aside, shared; else none are recorded
constexpr const char* kOperatorsVariable = "STRATA_RECORD_OPERATORS"; ///< 1: PyTorch's too, with kernels
constexpr const char* kDeepVariable
    = "STRATA_RECORD_DEEP"; ///< which step of an optimizer is seen deeply; 0: none

} // namespace strata::inject
