// SPDX-License-Identifier: Apache-2.0
#include "capture/hook/python_start.h"

#include <atomic>
#include <dlfcn.h>
#include <string>
#include <string_view>

namespace strata::hook {

namespace {

PythonScript g_script{}; // written once, before Python is asked to call

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

int runScript(void*)
{
    const auto run = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_DEFAULT, "PyRun_SimpleString"));
    if (!run)
        return 0;
    const std::string code = "try:\n exec(compile(open(" + literal(g_script.path) + ").read(), "
        + literal(g_script.frameName)
        + ", 'exec'), {'__name__': 'strata_start'})\n"
          "except BaseException as _strata:\n"
          " import sys\n"
          " print("
        + literal(std::string("strata: ") + g_script.what + ":")
        + ", repr(_strata), file=sys.stderr)\n"
          " del _strata, sys\n";
    run(code.c_str());
    return 0;
}

} // namespace

void startPython(const PythonScript& script)
{
    static std::atomic<bool> started{ false };
    if (started.exchange(true))
        return;
    const auto initialized = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "Py_IsInitialized"));
    const auto pending
        = reinterpret_cast<int (*)(int (*)(void*), void*)>(dlsym(RTLD_DEFAULT, "Py_AddPendingCall"));
    if (!initialized || !pending || initialized() == 0)
        return;
    g_script = script;
    pending(runScript, nullptr);
}

} // namespace strata::hook
