// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/standins/elf_file.h"
#include "capture/simgpu/standins/elf_writer.h"

#include <filesystem>

namespace strata::simgpu {

/// Stand-ins ready for one LibTorch.
struct StandInSet {
    int cudaMajor = 0;
    std::vector<std::filesystem::path> libraries; ///< to be preloaded, the core first
};

/// Makes what a set of libraries asks of CUDA's libraries, by what the prebuilt core does not define already.
/// `asking` are the libraries of LibTorch and of whatever extends it; `core` is the prebuilt library.
std::vector<StandIn> planStandIns(const std::vector<ElfFile>& asking, const ElfFile& core);

/// The CUDA major version a set of libraries was built for, 0 when it asks for no CUDA runtime.
int cudaMajorOf(const std::vector<ElfFile>& asking);

/// Writes the stand-ins below `cache`, in a folder named by what went in; does nothing when it is there
/// already. `coreFolder` holds libstrata_simgpu12.so and libstrata_simgpu13.so.
tl::expected<StandInSet, std::string> makeStandIns(const std::vector<std::filesystem::path>& asking,
    const std::filesystem::path& coreFolder, const std::filesystem::path& cache);

} // namespace strata::simgpu
