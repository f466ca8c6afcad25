// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// What the address sanitizer is not to tell of: libdbus keeps what belongs to the connection of Qt's
/// platform plugin until the process ends. In one file of a program.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions()
{
    return "leak:libdbus-1.so\n";
}
