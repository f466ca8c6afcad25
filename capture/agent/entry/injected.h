// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace strata::agent {

/// How the recorder is told what to do in a process that was started without it (app/launch/inject). A few
/// instructions that were written into the process load libstrata_capture.so and call kInjectedEntry with the
/// name of a place to meet. A thread of the recorder connects there and begins:
///
///     process                               who injects
///     connects                         ->   is this the process?
///     is this its user, or root?       <-   "KEY=VALUE" lines, as below
///     begins a recording               ->   "recording SOCKET", or "failed"; then a line for each thing said
///     ends it, stays                   <-   "stop", or the connection ends
///                       or goes on     <-   "keep"
///     all is written                   ->   "stopped"
///
/// With "end=1" among the lines nothing begins: what is recorded ends, and the answer is "stopped", or
/// "failed".
///
/// The place is a socket of packets in the abstract namespace; each message is a packet.
namespace injected {

inline constexpr const char* kEntry = "strata_capture_injected";
inline constexpr std::size_t kMostBytes = 8192; ///< of a message

inline constexpr std::string_view kStacks = "stacks"; ///< auto, none, python or native
inline constexpr std::string_view kScript = "script"; ///< of Python that is run before; none: empty
inline constexpr std::string_view kRing = "ring"; ///< events for each device; 0: as the recorder has it
inline constexpr std::string_view kMemory = "memory"; ///< bytes of the recorder; 0: likewise
inline constexpr std::string_view kLiveMemory = "live_memory"; ///< bytes kept for viewers; 0: likewise

inline constexpr std::string_view kKernels = "kernels"; ///< aside or shared; none: empty
inline constexpr std::string_view kOperators = "operators"; ///< 1: PyTorch's too, with kernels

inline constexpr std::string_view kEnd = "end"; ///< 1: see above

inline constexpr std::string_view kRecording = "recording";
inline constexpr std::string_view kFailed = "failed";
inline constexpr std::string_view kStop = "stop";
inline constexpr std::string_view kKeep = "keep";
inline constexpr std::string_view kStopped = "stopped";

} // namespace injected

} // namespace strata::agent

extern "C" {

/// Called by the instructions that were written into the process, on a thread that was about to ask LibTorch
/// for the current device: leads the calls of LibTorch back to `asked`, where they went, and leaves the rest
/// to a thread of its own. Never throws.
__attribute__((visibility("default"))) void strata_capture_injected(const char* meeting, void* asked);

/// Called by the script of Python, once frames can be read and hooks are in place: waits a few seconds until
/// the recording has begun, so that what the script tells then is in it. 1 if it has.
__attribute__((visibility("default"))) int strata_capture_injected_ready(void);
}
