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

} // namespace strata::model
