// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace strata::interpose {

struct PythonScript {
    const char* path;
    const char* frameName; ///< what its frames say instead of a file: "<frozen strata_record>"
    const char* what; ///< "the start of the recording failed"
};

/// Runs a script in the Python that is loading torch, in a namespace of its own, as soon as Python may: while
/// torch is still being imported, before its Python modules, scripts in the order of these calls. Does
/// nothing without a Python or without a script. What goes wrong is said once, as "strata: WHAT: ...", and
/// never ends the program. The texts of `script` must live for good. Any thread. For libraries that are
/// preloaded: nothing of Python is linked.
void startPython(const std::optional<PythonScript>& script);

} // namespace strata::interpose
