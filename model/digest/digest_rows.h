// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/digest/digest.h"
#include "model/wire/digest_codec.h"

#include <optional>
#include <span>

namespace strata::model {

/// A digest as it travels. The numbers of its stacks and strings are those of the recording; how many chunks
/// come before it, and their chain, are left for whoever writes it.
[[nodiscard]] wire::Digest toWire(const DeviceDigest& digest);

/// Back again: `strings` and `stacks` are rows of the recording by their numbers in the stream. None if a
/// number names nothing.
[[nodiscard]] std::optional<DeviceDigest> fromWire(
    const wire::Digest& digest, std::span<const StringId> strings, std::span<const StackId> stacks);

} // namespace strata::model
