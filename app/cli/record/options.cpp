// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/record/options.h"

#include "app/cli/dryrun/launch.h"
#include "model/base/units.h"

#include <CLI/CLI.hpp>

namespace strata::cli {

namespace {

using model::Error;

model::Result<std::optional<std::int64_t>> sizeOf(const std::string& option, const std::string& text)
{
    if (text.empty())
        return std::optional<std::int64_t>();
    const auto bytes = model::parseBytes(text);
    if (!bytes || *bytes <= 0)
        return model::fail(Error::Kind::Usage, option + " " + text + ": not a size", "e.g. 512MiB");
    return bytes;
}

} // namespace

model::Result<RecordOptions> parseRecord(int argc, const char* const* argv, std::string& help)
{
    RecordOptions options;
    std::string memory, capacity;
    CLI::App app(
        "Runs a command and records the GPU memory of every process in it that uses PyTorch or LibTorch",
        "strata record");
    app.add_option("-o,--output", options.output,
        "The session to write, named .strata; {process} in the name becomes the process id. Without it a "
        "second process writes beside it, as FILE.PID.strata, ranks as FILE.rankN.strata");
    app.add_option("--stacks", options.stacks,
           "Whose call stacks: python, native (C++), none, or auto: Python's, and C++'s where a thread runs "
           "no "
           "Python, as autograd's own does")
        ->check(CLI::IsMember({ "auto", "none", "python", "native" }))
        ->capture_default_str();
    app.add_option("--ring", options.ringEvents,
           "Events that may wait for the disk, for each device (131072 unless said): more if events are lost")
        ->check(CLI::Range(std::int64_t{ 64 }, std::int64_t{ 1 } << 30));
    app.add_option(
        "--memory", memory, "Host memory that the recorder may take in each process (256MiB unless said)");
    app.add_option("--simulated", options.simulated,
        "Run on a simulated card of the catalogue, e.g. H100-80GB: no GPU is needed, and there are no real "
        "times");
    app.add_option("--capacity", capacity, "Memory of the simulated card instead of its own, e.g. 16GiB");
    app.add_option("--devices", options.devices, "Number of simulated cards")->check(CLI::Range(1, 64));
    app.footer("\nExample:\n  strata record -o run.strata -- python train.py\n");

    const auto parsed = parseWithCommand(
        app, argc, argv, "strata record -o run.strata -- python train.py", help, options.command);
    if (!parsed)
        return model::Failure(parsed.error());
    if (!*parsed)
        return options;
    if (options.output.empty())
        return model::fail(Error::Kind::Usage, "no file to write",
            "name one with -o, as in strata record -o run.strata -- ...");
    if (options.simulated.empty() && (!capacity.empty() || options.devices != 1))
        return model::fail(Error::Kind::Usage, "--capacity and --devices are of the simulated card",
            "name one with --simulated");
    const auto memoryBytes = sizeOf("--memory", memory);
    const auto capacityBytes = sizeOf("--capacity", capacity);
    for (const auto* size : { &memoryBytes, &capacityBytes }) {
        if (!*size)
            return model::Failure(size->error());
    }
    options.memoryBytes = *memoryBytes;
    options.capacityBytes = *capacityBytes;
    return options;
}

} // namespace strata::cli
