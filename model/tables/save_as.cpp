// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/save_as.h"

#include "model/session/cut.h"

#include <algorithm>
#include <limits>

namespace strata::model {

namespace {

/// A snapshot is what there is at its end: of a recording without one, what its trace leads to.
Result<void> exportWithEnd(
    const Session& session, const std::filesystem::path& path, const Progress& progress)
{
    const auto& devices = session.devices();
    if (std::ranges::all_of(devices, [](const DeviceTrace& trace) { return trace.totals().endKnown; }))
        return exportPickle(session.recording(), path, progress);
    CutOptions options;
    options.endFromTrace = true;
    for (const DeviceTrace& trace : devices)
        options.spans[trace.device()] = { 0, std::numeric_limits<EventIndex>::max() };
    return exportPickle(*cut(session, options).recording, path, progress);
}

/// What is written of a session whose source goes on: it says that its end is not known. Costs little.
Recording saved(const Session& session)
{
    Recording recording = session.recording();
    if (!recording.truncation
        && std::ranges::any_of(
            session.devices(), [](const DeviceTrace& trace) { return !trace.totals().endKnown; }))
        recording.truncation
            = Truncation{ recording.fileBytes, say("It was saved while its program was running"), true };
    return recording;
}

} // namespace

Result<void> saveAs(const Session& session, const std::filesystem::path& path, const Progress& progress)
{
    const Result<SavedFormat> format = savedFormat(path);
    if (!format)
        return Failure(format.error());
    if (*format == SavedFormat::Pickle)
        return exportWithEnd(session, path, progress);
    return saveSession(saved(session), path, digestsOf(session.devices()), progress);
}

} // namespace strata::model
