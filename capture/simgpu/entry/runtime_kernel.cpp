// SPDX-License-Identifier: Apache-2.0
// CUDA runtime: registration and launch of kernels, which do nothing, and libraries of them.
#include "capture/simgpu/entry/activity.h"

#include <cstring>

namespace strata::simgpu {

namespace {

using api::Result;

struct CallConfiguration {
    api::Dim3 grid;
    api::Dim3 block;
    std::size_t sharedBytes;
    void* stream;
};
thread_local CallConfiguration t_call;

Extent extentOf(const api::Dim3& size)
{
    return { size.x, size.y, size.z };
}

Result launch(Api name, const void* kernel, const api::Dim3& grid, const api::Dim3& block,
    std::size_t sharedBytes, void* stream)
{
    const ApiCall call(name);
    if (isWorkSeen())
        perform(call, stream, DeviceWork::kernel(kernel, extentOf(grid), extentOf(block), sharedBytes));
    return 0;
}

/// Copies to and from variables are done at once, whatever the stream.
Result copyNow(
    const ApiCall& call, void* to, const void* from, std::size_t bytes, void* stream, bool asynchronous)
{
    call.issue(stream, DeviceWork::copy(to, from, bytes, asynchronous));
    machine().copy(to, from, bytes);
    return 0;
}

/// Where __device__ and __constant__ variables live: host memory, one run for each variable.
void* variableMemory(const void* symbol)
{
    static std::mutex mutex;
    static auto* const made = new std::unordered_map<const void*, void*>;
    constexpr std::size_t kBytes = std::size_t{ 64 } << 10;
    const std::lock_guard lock(mutex);
    void*& memory = (*made)[symbol];
    if (!memory) {
        const auto machineLock = locked();
        machine().host.allocate(kBytes, HostMemory::Kind::Managed, memory);
    }
    return memory;
}

Result occupancy(int* blocks, int threads, std::size_t sharedBytes)
{
    *blocks = blocksPerMultiprocessor(machine().limits, threads, sharedBytes);
    return 0;
}

} // namespace

STRATA_API void** __cudaRegisterFatBinary(void* wrapper)
{
    return static_cast<void**>(machine().kernels.addBinary(wrapper));
}

STRATA_API void __cudaRegisterFatBinaryEnd(void**) { }

STRATA_API void __cudaUnregisterFatBinary(void**) { }

STRATA_API void __cudaRegisterFunction(
    void** binary, const char* kernel, char*, const char* name, int, void*, void*, void*, void*, int*)
{
    machine().kernels.addKernel(binary, kernel, name);
}

STRATA_API void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) { }

STRATA_API void __cudaRegisterManagedVar(
    void**, void** variable, char*, const char*, int, std::size_t, int, int)
{
    *variable = variableMemory(variable);
}

STRATA_API char __cudaInitModule(void**)
{
    return 1;
}

STRATA_API unsigned __cudaPushCallConfiguration(
    api::Dim3 grid, api::Dim3 block, std::size_t sharedBytes, void* stream)
{
    t_call = { grid, block, sharedBytes, stream };
    return 0;
}

STRATA_API Result __cudaPopCallConfiguration(
    api::Dim3* grid, api::Dim3* block, std::size_t* sharedBytes, void** stream)
{
    *grid = t_call.grid;
    *block = t_call.block;
    *sharedBytes = t_call.sharedBytes;
    *stream = t_call.stream;
    return 0;
}

STRATA_API Result cudaLaunchKernel(
    const void* kernel, api::Dim3 grid, api::Dim3 block, void**, std::size_t sharedBytes, void* stream)
{
    return launch(Api::LaunchKernel, kernel, grid, block, sharedBytes, stream);
}

STRATA_API Result cudaLaunchCooperativeKernel(
    const void* kernel, api::Dim3 grid, api::Dim3 block, void**, std::size_t sharedBytes, void* stream)
{
    return launch(Api::LaunchCooperativeKernel, kernel, grid, block, sharedBytes, stream);
}

STRATA_API Result cudaLaunchKernelExC(const api::LaunchConfig* config, const void* kernel, void**)
{
    return launch(Api::LaunchKernelExC, kernel, config->grid, config->block, config->dynamicSharedBytes,
        config->stream);
}

STRATA_API Result __cudaLaunchKernel(
    void* kernel, api::Dim3 grid, api::Dim3 block, void**, std::size_t sharedBytes, void* stream)
{
    return launch(Api::LaunchKernel, kernel, grid, block, sharedBytes, stream);
}

STRATA_API Result __cudaGetKernel(void** kernel, const void* function)
{
    *kernel = pointerTo(addressOf(function));
    return 0;
}

STRATA_API Result cudaGetKernel(void** kernel, const void* function)
{
    return __cudaGetKernel(kernel, function);
}

STRATA_API Result cudaFuncGetAttributes(api::FuncAttributes* out, const void* kernel)
{
    const ApiCall call(Api::FuncGetAttributes);
    const Machine& all = machine();
    std::memset(out, 0, sizeof *out);
    LoadedCode code{ all.settings.codeCapability, all.settings.codeCapability };
    if (code.binary == 0) {
        const CompiledFor compiled = machine().kernels.compiledFor(kernel);
        code = chooseCode(compiled, all.settings.computeMajor, all.settings.computeMinor);
    }
    if (code.binary == 0)
        return remember(Status::NoKernelImage);
    out->maxThreadsPerBlock = 1024;
    out->numRegs = 32;
    out->ptxVersion = code.assembly;
    out->binaryVersion = code.binary;
    out->maxDynamicSharedSizeBytes = all.limits.sharedPerBlockOptin;
    return 0;
}

STRATA_API Result cudaFuncSetAttribute(const void*, int, int)
{
    const ApiCall call(Api::FuncSetAttribute);
    return 0;
}

STRATA_API Result cudaFuncSetCacheConfig(const void*, int)
{
    return 0;
}

STRATA_API Result cudaKernelSetAttributeForDevice(void*, int, int, int)
{
    return 0;
}

STRATA_API Result cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, const void*, int threads, std::size_t sharedBytes)
{
    const ApiCall call(Api::OccupancyMaxActiveBlocks);
    return occupancy(blocks, threads, sharedBytes);
}

STRATA_API Result cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void*, int threads, std::size_t sharedBytes, unsigned)
{
    const ApiCall call(Api::OccupancyMaxActiveBlocksWithFlags);
    return occupancy(blocks, threads, sharedBytes);
}

STRATA_API Result cudaOccupancyMaxActiveClusters(int* clusters, const void*, const api::LaunchConfig*)
{
    *clusters = machine().settings.multiprocessors / 8;
    return 0;
}

STRATA_API Result cudaGetSymbolAddress(void** out, const void* symbol)
{
    *out = variableMemory(symbol);
    return 0;
}

STRATA_API Result cudaMemcpyToSymbol(
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int)
{
    const ApiCall call(Api::MemcpyToSymbol);
    return copyNow(call, static_cast<char*>(variableMemory(symbol)) + offset, from, bytes, nullptr, false);
}

STRATA_API Result cudaMemcpyToSymbolAsync(
    const void* symbol, const void* from, std::size_t bytes, std::size_t offset, int, void* stream)
{
    const ApiCall call(Api::MemcpyToSymbolAsync);
    return copyNow(call, static_cast<char*>(variableMemory(symbol)) + offset, from, bytes, stream, true);
}

STRATA_API Result cudaMemcpyFromSymbol(
    void* to, const void* symbol, std::size_t bytes, std::size_t offset, int)
{
    const ApiCall call(Api::MemcpyFromSymbol);
    return copyNow(
        call, to, static_cast<const char*>(variableMemory(symbol)) + offset, bytes, nullptr, false);
}

// A library of kernels is its code; a kernel of it is its name, kept for the life of the process.
STRATA_API Result cudaLibraryLoadData(
    void** library, const void* code, void*, void**, unsigned, void*, void**, unsigned)
{
    *library = pointerTo(addressOf(code));
    return 0;
}

STRATA_API Result cudaLibraryUnload(void*)
{
    return 0;
}

STRATA_API Result cudaLibraryGetKernel(void** kernel, void*, const char* name)
{
    *kernel = strdup(name);
    machine().kernels.addKernel(nullptr, *kernel, static_cast<const char*>(*kernel));
    return 0;
}

STRATA_API Result cudaLibraryGetGlobal(void** address, std::size_t* bytes, void*, const char* name)
{
    *address = variableMemory(name);
    if (bytes)
        *bytes = 0;
    return 0;
}

} // namespace strata::simgpu
