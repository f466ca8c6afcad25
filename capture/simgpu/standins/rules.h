// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/standins/elf_writer.h"

#include <string_view>

namespace strata::simgpu {

/// What a function does that the prebuilt core does not define: computations take their place on a stream, do
/// nothing and succeed, as kernels do; queries of sizes write zeros; whatever else would have to answer
/// something is unserved.
Behaviour behaviourOf(std::string_view function);

/// Whether a library of this SONAME is one that the simulated device stands in for.
bool isStoodIn(std::string_view soname);

/// Whether an unversioned function belongs to the library of this SONAME, by its name.
bool belongsTo(std::string_view function, std::string_view soname);

} // namespace strata::simgpu
