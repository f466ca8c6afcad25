// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

namespace strata::model {

/// Puts what the program left as notes while it was recorded (wire/annotation_names.h) among the notes, at
/// the last event of the device (of `device`, where they name none) before them: what somebody changed or
/// removed since stays so. Nothing without times. O(events), where there are any.
void addProgramNotes(Recording& recording, int device);

} // namespace strata::model
