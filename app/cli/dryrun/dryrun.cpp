// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/dryrun.h"

#include "app/cli/dryrun/report.h"

#include <cstdio>
#include <filesystem>

namespace strata::cli {

namespace {

constexpr int kFits = 0;
constexpr int kDoesNotFit = 1;
constexpr int kUsage = 2;

int complain(const model::Error& error)
{
    std::fprintf(stderr, "strata: dryrun: %s\n", error.text().c_str());
    return kUsage;
}

void keepSnapshot(const DryRun& run, const std::string& output)
{
    std::error_code error;
    std::filesystem::remove(output, error);
    if (run.snapshot.empty()) {
        std::fprintf(stderr, "strata: %s: not written: the command left no snapshot\n", output.c_str());
        return;
    }
    std::filesystem::copy_file(run.snapshot, output, error);
    if (error)
        std::fprintf(stderr, "strata: %s: %s\n", output.c_str(), error.message().c_str());
}

} // namespace

int dryRunMain(int argc, const char* const* argv)
{
    std::string help;
    const auto options = parseDryRun(argc, argv, help);
    if (!options)
        return complain(options.error());
    if (!help.empty()) {
        std::fputs(help.c_str(), stdout);
        return kFits;
    }
    const ScratchFolder scratch;
    const auto run = runDry(*options, scratch);
    if (!run)
        return complain(run.error());
    if (!options->output.empty())
        keepSnapshot(*run, options->output);
    const auto groups = peakGroups(*run);
    std::fputs((options->json ? dryRunJson(*run, groups) : dryRunText(*run, groups)).c_str(), stdout);
    return run->exitStatus == 0 && run->fits() ? kFits : kDoesNotFit;
}

} // namespace strata::cli
