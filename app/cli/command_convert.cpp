// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "model/analysis/save_as.h"
#include "model/base/units.h"

#include <filesystem>
#include <fmt/format.h>

namespace strata::cli {

model::Result<int> runConvert(const std::string& file, const Options& options, Output& out, Output& err)
{
    const std::filesystem::path target = options.outputFile;
    if (const auto format = model::savedFormat(target); !format)
        return model::Failure(format.error());
    std::error_code ignored;
    if (std::filesystem::equivalent(file, target, ignored))
        return model::fail(
            model::Error::Kind::Usage, "a recording is not written over itself", "give another name with -o");
    const auto session = openSession(file, options.force, err);
    if (!session)
        return model::Failure(session.error());
    const model::Recording& recording = (*session)->recording();
    const model::Result<void> written = model::saveAs(**session, target);
    if (!written)
        return model::Failure(written.error());
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(target, ignored));
    out.line(fmt::format("{}: {} (from {})", target.string(), model::formatBytes(bytes),
        model::formatBytes(static_cast<std::int64_t>(recording.fileBytes))));
    return kDone;
}

} // namespace strata::cli
