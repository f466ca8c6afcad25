// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/trace/filter.h"

#include <optional>

namespace strata::views {

/// What the search box makes of a text:
///
///     > 1 MiB, <= 512KiB      sizes above, below
///     24.0 MiB                sizes that are shown like this
///     25165824                this size exactly
///     attention, train.py     part of a file or function name of the stack
///     0x7f3a00000200          the block that holds this address
///
/// The conditions of `filter` that the text says nothing of are kept. Nothing for a blank text.
[[nodiscard]] std::optional<model::BlockFilter> searchFilter(
    const model::BlockFilter& filter, const QString& text);

} // namespace strata::views
