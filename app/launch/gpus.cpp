// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/gpus.h"

#include <dlfcn.h>

namespace strata::launch {

namespace {

template <class Function> Function in(void* library, const char* name)
{
    return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
}

void findDevices(Gpus& gpus)
{
    void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    const auto init = in<int (*)(unsigned)>(driver, "cuInit");
    const auto count = in<int (*)(int*)>(driver, "cuDeviceGetCount");
    const auto get = in<int (*)(int*, int)>(driver, "cuDeviceGet");
    const auto nameOf = in<int (*)(char*, int, int)>(driver, "cuDeviceGetName");
    if (!init || !count || !get || !nameOf) {
        gpus.whyNone = "there is no NVIDIA driver here (libcuda.so.1): install that of your GPU";
        return;
    }
    int devices = 0;
    if (const int status = init(0); status != 0 || count(&devices) != 0)
        gpus.whyNone = "the NVIDIA driver does not answer (cuInit gives " + std::to_string(status)
            + "): see whether nvidia-smi does, and whether a container was given its GPUs";
    else if (devices == 0)
        gpus.whyNone = "the NVIDIA driver knows no GPU: see CUDA_VISIBLE_DEVICES";
    for (int i = 0; i < devices; ++i) {
        int device = 0;
        char name[256] = "";
        if (get(&device, i) == 0 && nameOf(name, sizeof name, device) == 0)
            gpus.names.emplace_back(name);
    }
}

/// What the recorder asks for, asked for once.
std::string whyNoReadings()
{
    struct Memory {
        unsigned version;
        unsigned long long total, reserved, free, used;
    };
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    const auto init = in<int (*)()>(library, "nvmlInit_v2");
    const auto get = in<int (*)(unsigned, void**)>(library, "nvmlDeviceGetHandleByIndex_v2");
    const auto memoryOf = in<int (*)(void*, Memory*)>(library, "nvmlDeviceGetMemoryInfo_v2");
    if (!init || !get || !memoryOf)
        return "there is no NVML here (libnvidia-ml.so.1): it comes with the NVIDIA driver; a container "
               "needs the "
               "capability 'utility'";
    void* device = nullptr;
    Memory memory{ .version = sizeof(Memory) | (2u << 24), .total = 0, .reserved = 0, .free = 0, .used = 0 };
    if (init() != 0 || get(0, &device) != 0 || memoryOf(device, &memory) != 0)
        return "NVML does not tell of the device's memory: see whether nvidia-smi does; a divided device "
               "(MIG) is not "
               "read";
    return {};
}

} // namespace

Gpus findGpus()
{
    Gpus gpus;
    findDevices(gpus);
    gpus.whyNoReadings = gpus.names.empty() ? gpus.whyNone : whyNoReadings();
    return gpus;
}

} // namespace strata::launch
