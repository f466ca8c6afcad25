// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/keep_recording.h"

#include "model/session/opener.h"
#include "model/tables/save_as.h"

namespace strata::cli {

model::Result<void> keepRecording(const std::filesystem::path& recording, const std::filesystem::path& output)
{
    using model::Error;
    std::error_code error;
    if (!recording.empty() && std::filesystem::equivalent(recording, output, error))
        return {}; // the program recorded itself there
    std::filesystem::remove(output, error);
    if (recording.empty())
        return model::fail(Error::Kind::NotFound, model::say("not written: the process left no recording"));
    if (recording.extension() == output.extension()) {
        std::filesystem::copy_file(recording, output, error);
        if (error)
            return model::fail(Error::Kind::NotFound, model::verbatim(error.message()));
        return {};
    }
    const auto session = model::Opener::openAll(recording);
    if (!session)
        return model::Failure(session.error());
    return model::saveAs(**session, output);
}

} // namespace strata::cli
