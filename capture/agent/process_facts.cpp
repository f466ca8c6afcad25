// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/process_facts.h"

#include "capture/agent/counter_clock.h"

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace strata::agent {

namespace info = wire::info;

namespace {

std::string commandLine()
{
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::string text{ std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>() };
    while (!text.empty() && text.back() == '\0')
        text.pop_back();
    for (char& c : text)
        c = c == '\0' ? ' ' : c;
    return text;
}

void addFromEnvironment(std::vector<wire::KeyValue>& facts, const char* key, const char* variable)
{
    if (const char* value = std::getenv(variable); value && *value)
        facts.emplace_back(key, value);
}

/// By the driver, which needs no context for it.
void addDevices(std::vector<wire::KeyValue>& facts)
{
    const auto get = reinterpret_cast<int (*)(int*, int)>(cudaFunction("cuDeviceGet"));
    const auto nameOf = reinterpret_cast<int (*)(char*, int, int)>(cudaFunction("cuDeviceGetName"));
    const auto bytesOf = reinterpret_cast<int (*)(std::size_t*, int)>(cudaFunction("cuDeviceTotalMem_v2"));
    const int count = deviceCount();
    for (int i = 0; i < count && get && nameOf && bytesOf; ++i) {
        int device = 0;
        char name[256] = "";
        std::size_t bytes = 0;
        if (get(&device, i) != 0 || nameOf(name, sizeof name, device) != 0 || bytesOf(&bytes, device) != 0)
            continue;
        const auto add = [&](const char* field, std::string value) {
            facts.emplace_back(wire::deviceKey(info::kDevice, i, field), std::move(value));
        };
        add(info::kDeviceName, name);
        add(info::kDeviceCapacity, std::to_string(bytes));
    }
}

} // namespace

void* cudaFunction(const char* name)
{
    if (void* found = dlsym(RTLD_DEFAULT, name))
        return found;
    for (const char* library :
        { "libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0", "libcuda.so.1" }) {
        if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            if (void* found = dlsym(handle, name))
                return found;
        }
    }
    return nullptr;
}

int deviceCount()
{
    int count = 0;
    const auto ask = reinterpret_cast<int (*)(int*)>(cudaFunction("cudaGetDeviceCount"));
    return ask && ask(&count) == 0 && count > 0 ? count : 0;
}

std::vector<std::string> deviceBuses()
{
    const auto ask = reinterpret_cast<int (*)(char*, int, int)>(cudaFunction("cudaDeviceGetPCIBusId"));
    std::vector<std::string> buses;
    const int count = deviceCount();
    for (int i = 0; i < count; ++i) {
        char bus[32] = "";
        buses.emplace_back(ask && ask(bus, sizeof bus, i) == 0 ? bus : "");
    }
    return buses;
}

std::vector<wire::KeyValue> processFacts(const hook::TorchFiles& torch, const hook::Hook& hook)
{
    std::vector<wire::KeyValue> facts = wire::introduction();
    facts.emplace_back(info::kFormat, "Strata recording (torch " + torch.version + ")");
    facts.emplace_back(info::kTorch, torch.version);
    facts.emplace_back(info::kHook, hook.version);
    facts.emplace_back(info::kPid, std::to_string(getpid()));
    facts.emplace_back(info::kStartedNs, std::to_string(nowNs()));
    if (!torch.cuda.empty())
        facts.emplace_back(info::kCuda, torch.cuda);
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) == 0)
        facts.emplace_back(info::kHost, host);
    addFromEnvironment(facts, info::kRank, "RANK");
    addFromEnvironment(facts, info::kWorldSize, "WORLD_SIZE");
    addFromEnvironment(facts, info::kLocalRank, "LOCAL_RANK");
    if (const std::string command = commandLine(); !command.empty())
        facts.emplace_back(info::kCommand, command);
    // The simulated device says so by a function of its own.
    if (dlsym(RTLD_DEFAULT, "strata_simgpu_forget"))
        facts.emplace_back(info::kSimulated, info::kYes);
    addDevices(facts);
    return facts;
}

} // namespace strata::agent
