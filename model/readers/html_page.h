// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/readers/source/byte_source.h"

namespace strata::model {

/// The snapshot inside a page that PyTorch's _memory_viz.py wrote: its bytes, a pickle or JSON. An error if
/// the page holds none.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> snapshotInPage(
    std::unique_ptr<ByteSource> page, const Progress& progress);

} // namespace strata::model
