// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "strata/capture_c.h"

#include <cstdint>
#include <string>
#include <utility>

/// Records the GPU memory of this process into a session file, which strata opens: capture/README.md. Any
/// thread; nothing throws but std::bad_alloc for names, nothing ends the program. What fails is said once on
/// stderr, and the program goes on without a recording.
namespace strata::capture {

/// Whose call stacks are kept with events.
enum class Stacks : std::uint32_t {
    None = STRATA_CAPTURE_STACKS_NONE,
    Native = STRATA_CAPTURE_STACKS_NATIVE,
    Python = STRATA_CAPTURE_STACKS_PYTHON,
    Auto = STRATA_CAPTURE_STACKS_AUTO ///< Python's; C++ where the thread runs no Python
};

/// What becomes of a recording whose file is there already.
enum class Existing : std::uint32_t {
    Refuse = STRATA_CAPTURE_REFUSE, ///< there is none, which is said at once
    Replace = STRATA_CAPTURE_REPLACE,
    Number = STRATA_CAPTURE_NUMBER ///< "run.2.strata", "run.3.strata", ... is made beside it
};

enum class Kernels {
    Off = STRATA_CAPTURE_KERNELS_OFF,
    Aside = STRATA_CAPTURE_KERNELS_ASIDE, ///< another profiler, as torch.profiler, goes first
    Shared = STRATA_CAPTURE_KERNELS_SHARED ///< both are told
};

struct Options {
    std::string file; ///< empty, with `live`: none. "{process}" in it becomes the process's number
    Existing existing = Existing::Refuse;
    Stacks stacks = Stacks::Native;
    std::uint64_t ringEvents = 0; ///< that may wait for the disk, for each device; 0: 131072
    std::uint64_t memoryLimit = 0; ///< bytes of host memory, at most; 0: 256 MiB
    bool live = false; ///< `strata attach` can watch it; without a file it is recorded for those alone
    int livePort = -1; ///< of 127.0.0.1 too, for tunnels; 0: one that is free; -1: none
    std::uint64_t liveMemory = 0; ///< bytes kept for viewers where there is no file; 0: 64 MiB
    Kernels kernels = Kernels::Off; ///< what the device does, and the calls that have it do so
    /// PyTorch's too, where kernels are recorded: which launched what. Costs microseconds an operator.
    bool operators = false;
};

enum class State {
    Off = STRATA_CAPTURE_OFF,
    Waiting
    = STRATA_CAPTURE_WAITING, ///< for LibTorch's allocator; begins with its first segment, or in poll()
    Recording = STRATA_CAPTURE_RECORDING
};

/// At once where LibTorch's allocator is ready, else as soon as it is.
inline State start(const Options& options)
{
    strata_capture_options given{};
    given.size = sizeof given;
    given.stacks = static_cast<std::uint32_t>(options.stacks);
    given.file = options.file.c_str();
    given.ring_events = options.ringEvents;
    given.memory_limit = options.memoryLimit;
    given.existing = static_cast<std::uint32_t>(options.existing);
    given.live = options.live ? 1 : 0;
    given.live_port = options.livePort < 0
        ? 0
        : (static_cast<std::uint32_t>(options.livePort) & 0xffffu) | STRATA_CAPTURE_TCP;
    given.live_memory = options.liveMemory;
    given.kernels = static_cast<std::uint32_t>(options.kernels);
    given.operators = options.operators ? 1 : 0;
    return static_cast<State>(strata_capture_start(&given));
}

/// Begins a recording that waits, if it can. Scopes and marks do it too.
inline State poll()
{
    return static_cast<State>(strata_capture_poll());
}

/// With the state of the allocator at this moment. The end of the process does it too.
inline void stop()
{
    strata_capture_stop();
}

/// A recording for as long as this lives.
class Recording {
public:
    explicit Recording(const Options& options) { start(options); }
    ~Recording() { stop(); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
};

/// A named range for as long as this lives.
class Scope {
public:
    explicit Scope(std::string name)
        : m_name(std::move(name))
    {
        strata_capture_annotate(STRATA_CAPTURE_BEGIN, m_name.c_str());
    }
    ~Scope() { strata_capture_annotate(STRATA_CAPTURE_END, m_name.c_str()); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

private:
    std::string m_name;
};

/// One training step, "step 3".
class Step : public Scope {
public:
    explicit Step(std::int64_t number)
        : Scope("step " + std::to_string(number))
    {
    }
};

/// A part of a step.
class Phase : public Scope {
public:
    enum Kind { Forward, Backward, Optimizer };

    explicit Phase(Kind kind)
        : Scope(kind == Forward    ? "forward"
                : kind == Backward ? "backward"
                                   : "optimizer")
    {
    }
};

/// An instant with a name.
inline void mark(const std::string& name)
{
    strata_capture_annotate(STRATA_CAPTURE_MARK, name.c_str());
}

/// A remark for whoever opens the recording: a mark of its own kind.
inline void note(const std::string& text)
{
    strata_capture_annotate(STRATA_CAPTURE_MARK, ("note: " + text).c_str());
}

} // namespace strata::capture
