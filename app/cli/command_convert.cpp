// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "model/analysis/summary.h"
#include "model/base/units.h"
#include "model/session/save.h"

#include <filesystem>
#include <fmt/format.h>

namespace strata::cli {

model::Result<int> runConvert(const std::string& file, const Options& options, Output& out, Output& err)
{
    const std::filesystem::path target = options.outputFile;
    const std::string suffix = target.extension().string();
    const bool toSession = suffix == ".strata";
    if (!toSession && suffix != ".pickle" && suffix != ".pkl")
        return model::fail(model::Error::Kind::Usage,
            fmt::format("-o does not say what to write: '{}'", target.string()),
            "name it .strata for a session or .pickle for a PyTorch snapshot");
    std::error_code ignored;
    if (std::filesystem::equivalent(file, target, ignored))
        return model::fail(
            model::Error::Kind::Usage, "a recording is not written over itself", "give another name with -o");
    const auto session = openSession(file, options.force, err);
    if (!session)
        return model::Failure(session.error());
    const model::Recording& recording = (*session)->recording();
    const model::Result<void> written = toSession
        ? model::saveSession(recording, target, model::digestsOf(**session))
        : model::exportPickle(recording, target);
    if (!written)
        return model::Failure(written.error());
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(target, ignored));
    out.line(fmt::format("{}: {} (from {})", target.string(), model::formatBytes(bytes),
        model::formatBytes(static_cast<std::int64_t>(recording.fileBytes))));
    return kDone;
}

} // namespace strata::cli
