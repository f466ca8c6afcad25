// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/simulated_card.h"

#include "app/launch/libraries.h"
#include "app/launch/recorder.h"
#include "capture/simgpu/launch/late_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::launch {

namespace {

namespace fs = std::filesystem;

/// As programs of this command find themselves named.
std::string keyOf(const simgpu::Program& program)
{
    std::error_code error;
    return simgpu::programKey(program.interpreter.empty()
            ? fs::canonical(program.executable, error).string()
            : fs::absolute(program.interpreter, error).string());
}

} // namespace

model::Result<const model::Card*> cardNamed(std::string_view option, std::string_view name)
{
    if (const model::Card* card = model::findCard(name))
        return card;
    return model::fail(model::Error::Kind::Usage,
        model::say("%1 %2: no such card", std::string(option), std::string(name)),
        model::say("nearest are %1", fmt::format("{}", fmt::join(model::nearestCards(name), ", "))));
}

std::string hintToStartItself(std::string_view example)
{
    return fmt::format(
        "a program that links NVIDIA's libraries does not begin without them: start it itself, as in {}",
        example);
}

simgpu::Settings settingsOf(const model::Card& card, std::optional<std::int64_t> capacityBytes, int devices)
{
    simgpu::Settings settings;
    settings.devices = devices;
    settings.name = card.product;
    settings.capacityBytes = static_cast<std::uint64_t>(capacityBytes.value_or(card.capacityBytes));
    settings.computeMajor = card.computeMajor;
    settings.computeMinor = card.computeMinor;
    settings.multiprocessors = card.multiprocessors;
    settings.l2Bytes = static_cast<std::uint64_t>(card.l2Bytes);
    settings.memoryBusBits = card.memoryBusBits;
    return settings;
}

model::Result<simgpu::Variables> deviceFor(
    const Command& command, const simgpu::Settings& settings, const fs::path& preloaded)
{
    tl::expected<simgpu::Variables, std::string> found = tl::unexpected(command.whyNoTorch);
    if (command.torch)
        found = simgpu::deviceEnvironment(*command.torch, settings, libraryFolder(), { preloaded });
    if (!found && command.isCertain())
        return model::fail(model::Error::Kind::Usage, model::verbatim(found.error()));
    simgpu::Variables variables = found ? *std::move(found) : preload({ preloaded });
    simgpu::addLateDevice(settings, programFolder() / "strata-simgpu",
        command.isCertain() ? keyOf(command.program) : "", variables);
    return variables;
}

} // namespace strata::launch
