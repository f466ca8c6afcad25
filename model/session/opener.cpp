// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/opener.h"

#include "model/readers/session/symbol_rows.h"
#include "model/session/chunk_file.h"
#include "model/session/user_file.h"
#include "model/symbols/find_symbols.h"

#include <utility>

namespace strata::model {

Opener::Opener(RecordingFile file, std::filesystem::path notesFolder)
    : m_file(std::move(file))
    , m_notesFolder(std::move(notesFolder))
{
}

Result<Opener> Opener::open(const std::filesystem::path& path, const OpenOptions& options)
{
    ReadLimits limits;
    limits.force = options.force;
    Result<RecordingFile> file = RecordingFile::open(path, limits);
    if (!file)
        return Failure(std::move(file.error()));
    return Opener(std::move(*file), options.notesFolder);
}

Result<std::shared_ptr<const Session>> Opener::openAll(
    const std::filesystem::path& path, const OpenOptions& options, const Progress& progress)
{
    Result<Opener> file = open(path, options);
    return file ? file->all(progress) : Failure(std::move(file.error()));
}

/// With what is not in the file: the source of the program's C++, where it lies on this machine, and notes.
void Opener::complete(Recording& recording)
{
    if (!m_symbols)
        m_symbols = findSymbols(recording, SymbolsOf::Program).rows;
    if (!m_symbols->empty())
        applySymbols(*m_symbols, recording);
    if (!m_notesFolder.empty())
        UserFile::addBeside(ChunkFile(m_file.descriptor()), m_notesFolder, recording.user);
}

std::optional<SessionOutline> Opener::outline()
{
    std::optional<SessionOutline> outline = m_file.outline();
    if (outline)
        complete(*outline->recording);
    return outline;
}

Result<std::shared_ptr<const Session>> Opener::all(const Progress& progress)
{
    Result<std::unique_ptr<Recording>> recording = m_file.all(progress);
    if (!recording)
        return Failure(std::move(recording.error()));
    complete(**recording);
    return Session::fromRecording(std::move(*recording), progress);
}

} // namespace strata::model
