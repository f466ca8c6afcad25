// SPDX-License-Identifier: GPL-3.0-or-later
// What PyTorch makes of allocator settings: reads lines of them, answers each with a line.
//
// usage: settings < LINES
//
// A line is "FIRST" or "FIRST<tab>SECOND": settings of PYTORCH_CUDA_ALLOC_CONF in a process that has just
// begun, and those that it is given then. Answers: refused, or the values, as print() below writes them.
#define PYTORCH_C10_DRIVER_API_SUPPORTED // as in the libraries: a header asks for it
#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/version.h>
#if TORCH_VERSION_MINOR >= 10
#include <c10/core/AllocatorConfig.h>
#endif
#include <c10/cuda/CUDAAllocatorConfig.h>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Cuda = c10::cuda::CUDACachingAllocator::CUDAAllocatorConfig;

/// "expandable E, max split N, non-split N, large N, threshold X, fraction X, rejects R, divisions N N ..."
void print()
{
#if TORCH_VERSION_MINOR >= 10
    using Common = c10::CachingAllocator::AcceleratorAllocatorConfig;
    std::printf("expandable %d", Common::use_expandable_segments() ? 1 : 0);
#else
    using Common = Cuda;
    std::printf("expandable %d", Cuda::expandable_segments() ? 1 : 0);
#endif
    std::printf(", max split %zu", Common::max_split_size());
#if TORCH_VERSION_MINOR >= 6
    std::printf(", non-split %zu", Common::max_non_split_rounding_size());
#endif
#if TORCH_VERSION_MINOR >= 11
    std::printf(", large %zu", Common::large_segment_size());
#endif
    std::printf(", threshold %.9g", Common::garbage_collection_threshold());
#if TORCH_VERSION_MINOR >= 10
    std::printf(", fraction %.9g", Cuda::per_process_memory_fraction());
#endif
#if TORCH_VERSION_MINOR >= 12
    std::printf(", rejects %d", Cuda::throw_on_cudamalloc_oom() ? 1 : 0);
#endif
    std::printf(", divisions");
    for (const std::size_t divisions : Common::roundup_power2_divisions())
        std::printf(" %zu", divisions);
    std::printf("\n");
}

void set(const std::string& text)
{
#if TORCH_VERSION_MINOR >= 10
    c10::CachingAllocator::setAllocatorSettings(text);
#else
    c10::cuda::CUDACachingAllocator::setAllocatorSettings(text);
#endif
}

void answer(const std::string& line)
{
    const std::size_t tab = line.find('\t');
    setenv("PYTORCH_CUDA_ALLOC_CONF", line.substr(0, tab).c_str(), 1);
    try {
#if TORCH_VERSION_MINOR >= 10
        (void)c10::CachingAllocator::AcceleratorAllocatorConfig::instance();
#endif
        (void)Cuda::instance();
        if (tab != std::string::npos)
            set(line.substr(tab + 1));
        print();
    } catch (const std::exception&) {
        std::printf("refused\n");
    }
    std::fflush(stdout);
}

} // namespace

int main()
{
    // Settings are read once in a process: each line has its own.
    for (std::string line; std::getline(std::cin, line);) {
        const pid_t child = fork();
        if (child == 0) {
            answer(line);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            std::printf("refused\n"); // PyTorch does not catch it everywhere
        std::fflush(stdout);
    }
}
