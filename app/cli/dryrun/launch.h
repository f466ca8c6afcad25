// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/catalogue.h"
#include "capture/simgpu/launch/environment.h"
#include "model/base/result.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace strata::cli {

// What `strata dryrun` and `strata record` share: both start a command with libraries of ours in front.

/// Parses what stands before "--" with `app`, and takes the words behind it as the command. False: help was
/// asked for and is in `help`. Without a command the error shows `example`.
[[nodiscard]] model::Result<bool> parseWithCommand(CLI::App& app, int argc, const char* const* argv,
    const std::string& example, std::string& help, std::vector<std::string>& command);

/// What is preloaded lies in lib/strata beside the folder of this program, built and installed alike.
[[nodiscard]] std::filesystem::path libraryFolder();

/// Minor versions of torch that this build has a hook for, "2.6"; what the recorder needs.
[[nodiscard]] std::set<std::string> hookVersions();
/// Where nothing tells the version before it is loaded: whether there is any.
[[nodiscard]] bool hasHook(const simgpu::LibTorch& torch);

/// What the preloaded recorder (libstrata_record.so) is told: `file` and `stacks` as inject/variables.h has
/// them.
void addRecorder(const std::string& file, const std::string& stacks, simgpu::Variables& variables);

/// A machine with `devices` such cards, each of `capacityBytes` where given.
[[nodiscard]] simgpu::Settings settingsOf(
    const Card& card, std::optional<std::int64_t> capacityBytes, int devices);

/// In the child, between fork and exec: becomes the command.
[[noreturn]] void become(const std::filesystem::path& executable, const std::vector<std::string>& command);

} // namespace strata::cli
