// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace strata::model {

/// Whether a recording may have this operator called again: "aten::add.Tensor". What is not on a list of
/// PyTorch's own that only compute is refused, whatever a file says. Any thread.
[[nodiscard]] bool isCallable(std::string_view overload);

} // namespace strata::model
