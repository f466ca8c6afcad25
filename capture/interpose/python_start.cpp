// SPDX-License-Identifier: Apache-2.0
#include "capture/interpose/python_start.h"

#include <dlfcn.h>
#include <string>
#include <string_view>

namespace strata::interpose {

namespace {

/// `text` as a literal of Python.
std::string literal(std::string_view text)
{
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\')
            quoted += '\\';
        quoted += c;
    }
    return quoted + '\'';
}

int runScript(void* given)
{
    const PythonScript& script = *static_cast<const PythonScript*>(given); // for good: Python calls once
    const auto run = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_DEFAULT, "PyRun_SimpleString"));
    // A program that ends may come by when its modules are gone.
    const auto initialized = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    if (!run || !initialized || initialized() == 0)
        return 0;
    const std::string code = "try:\n exec(compile(open(" + literal(script.path) + ").read(), "
        + literal(script.frameName)
        + ", 'exec'), {'__name__': 'strata_start'})\n"
          "except BaseException as _strata:\n"
          " import sys\n"
          " print("
        + literal(std::string("strata: ") + script.what + ":")
        + ", repr(_strata), file=sys.stderr)\n"
          " del _strata, sys\n";
    run(code.c_str());
    return 0;
}

} // namespace

void startPython(const std::optional<PythonScript>& script)
{
    if (!script)
        return;
    const auto initialized = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    const auto pending
        = reinterpret_cast<int (*)(int (*)(void*), void*)>(dlsym(RTLD_DEFAULT, "Py_AddPendingCall"));
    if (!initialized || !pending || initialized() == 0)
        return;
    pending(runScript, new PythonScript(*script));
}

} // namespace strata::interpose
