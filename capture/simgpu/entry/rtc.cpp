// SPDX-License-Identifier: Apache-2.0
// NVRTC: every program compiles, to an image that nobody runs.
#include "capture/simgpu/entry/process.h"

#include <cstring>
#include <map>
#include <string>

namespace strata::simgpu {

namespace {

using api::Result;

constexpr char kImage[] = "simulated";

struct Program {
    std::map<std::string, std::string> names;
};

Result giveText(char* out, const char* text)
{
    std::strcpy(out, text);
    return 0;
}

Result giveSize(std::size_t* out, const char* text)
{
    *out = std::strlen(text) + 1;
    return 0;
}

} // namespace

STRATA_API Result nvrtcVersion(int* major, int* minor)
{
    *major = kCudaVersion / 1000;
    *minor = kCudaVersion / 10 % 100;
    return 0;
}

STRATA_API const char* nvrtcGetErrorString(Result status)
{
    return status == 0 ? "NVRTC_SUCCESS" : "not supported by the simulated device";
}

STRATA_API Result nvrtcCreateProgram(
    void** out, const char*, const char*, int, const char* const*, const char* const*)
{
    *out = new Program;
    return 0;
}

STRATA_API Result nvrtcDestroyProgram(void** program)
{
    delete static_cast<Program*>(*program);
    *program = nullptr;
    return 0;
}

STRATA_API Result nvrtcCompileProgram(void*, int, const char* const*)
{
    return 0;
}

STRATA_API Result nvrtcAddNameExpression(void* program, const char* name)
{
    static_cast<Program*>(program)->names[name] = name;
    return 0;
}

STRATA_API Result nvrtcGetLoweredName(void* program, const char* name, const char** lowered)
{
    *lowered = static_cast<Program*>(program)->names[name].c_str();
    return 0;
}

STRATA_API Result nvrtcGetNumSupportedArchs(int* count)
{
    *count = 1;
    return 0;
}

STRATA_API Result nvrtcGetSupportedArchs(int* architectures)
{
    *architectures = machine().settings.computeMajor * 10 + machine().settings.computeMinor;
    return 0;
}

STRATA_API Result nvrtcGetPTX(void*, char* out)
{
    return giveText(out, kImage);
}

STRATA_API Result nvrtcGetPTXSize(void*, std::size_t* bytes)
{
    return giveSize(bytes, kImage);
}

STRATA_API Result nvrtcGetCUBIN(void*, char* out)
{
    return giveText(out, kImage);
}

STRATA_API Result nvrtcGetCUBINSize(void*, std::size_t* bytes)
{
    return giveSize(bytes, kImage);
}

STRATA_API Result nvrtcGetProgramLog(void*, char* out)
{
    return giveText(out, "");
}

STRATA_API Result nvrtcGetProgramLogSize(void*, std::size_t* bytes)
{
    return giveSize(bytes, "");
}

} // namespace strata::simgpu
