// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/command.h"
#include "capture/simgpu/launch/environment.h"
#include "model/base/result.h"
#include "model/cards/catalogue.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::launch {

/// A card of the catalogue that an option names. Kind::Usage says which option, and the nearest names.
[[nodiscard]] model::Result<const model::Card*> cardNamed(std::string_view option, std::string_view name);

/// What shells, `env` and a loader that misses a library end with.
inline constexpr int kNotStarted = 127;
/// What to do then; `example` is a command that begins.
[[nodiscard]] std::string hintToStartItself(std::string_view example);

/// A machine with `devices` such cards, each of `capacityBytes` where given.
[[nodiscard]] simgpu::Settings settingsOf(
    const model::Card& card, std::optional<std::int64_t> capacityBytes, int devices);

/// Puts the machine in front of a command: at once for the LibTorch that it names itself, which the error may
/// be about; whatever else it starts gets the device as it begins. The stand-ins of the Python in PATH, where
/// that has PyTorch, are there from the start: without NVIDIA's libraries no program that links them begins.
/// `preloaded` comes before the device's own libraries and is libstrata_preload.so.
[[nodiscard]] model::Result<simgpu::Variables> deviceFor(
    const Command& command, const simgpu::Settings& settings, const std::filesystem::path& preloaded);

} // namespace strata::launch
