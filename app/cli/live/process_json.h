// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "model/live/live_process.h"

namespace strata::cli {

/// The members of a process, as `strata list --json` has them; null where not known. The
/// caller begins and ends the object.
void writeProcess(const model::LiveProcess& process, JsonWriter& json);

} // namespace strata::cli
