// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace strata::views {

/// Jobs of all queues of the process that wait for a thread or run, dropped jobs included: those still run
/// for a while. Any thread.
[[nodiscard]] int jobsUnderWay();

} // namespace strata::views
