// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/save_as.h"

namespace strata::model {

Result<void> saveAs(const Session& session, const std::filesystem::path& path, const Progress& progress)
{
    const Result<SavedFormat> format = savedFormat(path);
    if (!format)
        return Failure(format.error());
    if (*format == SavedFormat::Pickle)
        return exportPickle(session.recording(), path, progress);
    return saveSession(session.recording(), path, digestsOf(session.devices()), progress);
}

} // namespace strata::model
