// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/wire/work_codec.h"

namespace strata::model {

/// Memory that the driver handed out and took back, for PyTorch's allocator and for others, in the file's
/// order: a part of a recording (Recording::parts) that was asked for kernels. Not what lay there before the
/// recording began.
struct DriverAllocations {
    Column<wire::DriverAllocationRow, 8> rows;
};

} // namespace strata::model
