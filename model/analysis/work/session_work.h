// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"
#include "model/session/session.h"
#include "model/trace/work.h"

#include <memory>

namespace strata::model {

/// What a session tells of work: that of a trace as it stands. That of an own recording with what its other
/// parts tell of the same time: annotations as pieces of their threads, names of threads, the steps that
/// the program names, or else those of `strata steps`, what was requested and reserved after each event of a
/// device, and what was refused. nullptr: it tells of none. Holds the session. Any thread; O(n log n) for an
/// own recording.
[[nodiscard]] std::shared_ptr<const Work> workOf(const std::shared_ptr<const Session>& session);

/// Why a session tells of none: whether kernels were asked for in vain.
[[nodiscard]] Sentence whyNoWork(const Session& session);

} // namespace strata::model
