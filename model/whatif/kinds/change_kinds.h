// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/ask/change_kind.h"

namespace strata::model {

/// Those that code elsewhere names; changeKinds() has all.
extern const ChangeKind kBatchKind, kCheckpointKind;

} // namespace strata::model
