// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/spread.h"

#include "model/base/units.h"

#include <cstdio>

namespace strata::cli {

model::Result<std::vector<model::AddressOrderRun>> runSpread(const DryRunOptions& options)
{
    std::vector<model::AddressOrderRun> out;
    for (const char* addresses : { "top-down", "ascending", "random:1", "random:2", "random:3" }) {
        if (options.addresses == addresses)
            continue;
        const ScratchFolder scratch;
        DryRunOptions other = options;
        other.addresses = addresses;
        other.record = false;
        other.time = false;
        other.log = (scratch.path() / "log").string();
        const auto run = runDry(other, scratch);
        if (!run)
            return model::Failure(run.error());
        out.push_back({ addresses, run->reservedPeak(), run->fits(), run->exitStatus });
        std::fprintf(stderr, "strata: addresses %s: %s reserved\n", addresses,
            model::formatBytes(run->reservedPeak()).c_str());
        if (run->interrupted())
            break;
    }
    return out;
}

} // namespace strata::cli
