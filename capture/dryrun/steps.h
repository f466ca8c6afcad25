// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace strata::dryrun {

/// What a C++ program does that tells its training steps. Nothing outside of a dry run. Any thread; some tens
/// of nanoseconds. Where the program has made the steps that it was to make, these do not return: it is ended
/// (end_program.h), once its other threads that train have made theirs.
void optimizerMade(const void* optimizer) noexcept;
void optimizerSteps(const void* optimizer) noexcept;
/// Of an optimizer whose class is the program's own.
void gradientsZeroed(const void* optimizer) noexcept;
/// A range of the recorder's interface begins or ends on this thread; steps go by "step 3".
void rangeBegins(std::string_view name) noexcept;
void rangeEnds(std::string_view name) noexcept;

} // namespace strata::dryrun
