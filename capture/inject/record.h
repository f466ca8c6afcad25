// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/interpose/python_start.h"

#include <optional>

namespace strata::inject {

/// Loads the recorder and starts a recording, once LibTorch's allocator is ready, which is before the first
/// segment; nothing where none is asked for (variables.h). Programs without LibTorch never load it. Any
/// thread; a load of a flag once that is settled.
void recordWhenReady() noexcept;

/// Before an _exit(): what was recorded goes to the file. Async-signal-safe.
void keepBeforeExit() noexcept;

/// Whether this process has a Python.
[[nodiscard]] bool isPython();

/// One of capture_c.h's; nullptr where no recorder is loaded, or one that lacks it.
[[nodiscard]] void* recorderFunction(const char* name);

/// Python's side of it; none where no recording is asked for.
[[nodiscard]] std::optional<interpose::PythonScript> recordScript();

} // namespace strata::inject
