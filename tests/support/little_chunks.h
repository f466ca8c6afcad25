// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/wire/bytes.h"

#include <cstdint>
#include <span>

namespace strata::test {

/// The same session in many small chunks, as a recorder writes it while a program runs: rows of tables when
/// something first refers to them, a few events of a device at a time, devices in turns, each state where it
/// belongs or, a base state, behind the first events. What the seed leaves open is drawn from it.
[[nodiscard]] wire::Bytes inLittleChunks(std::span<const std::byte> session, std::uint32_t seed);

} // namespace strata::test
