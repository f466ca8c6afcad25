// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/work.h"

#include <array>
#include <string_view>

namespace strata::model {

std::string_view workKindWord(WorkKind kind)
{
    static constexpr std::array<std::string_view, kWorkKinds> kWords{ "other", "operator", "annotation",
        "python", "runtime", "kernel", "copy", "set", "synchronisation", "device annotation", "overhead" };
    return kWords[static_cast<std::size_t>(kind)];
}

std::string_view workCategory(WorkKind kind)
{
    static constexpr std::array<std::string_view, kWorkKinds> kWords{ "Other", "cpu_op", "user_annotation",
        "python_function", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync",
        "gpu_user_annotation", "overhead" };
    return kWords[static_cast<std::size_t>(kind)];
}

} // namespace strata::model
