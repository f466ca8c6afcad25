// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/digest/outline.h"
#include "model/readers/reader.h"
#include "model/session/session.h"
#include "model/wire/symbols.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

struct OpenOptions {
    bool force = false; ///< read even what unpacks to more than half of RAM
    /// Where notes on recordings lie that cannot take them (UserFile::usualFolder()); empty: they are not
    /// looked for.
    std::filesystem::path notesFolder;
};

/// The one way into a file: it is opened once, and read as deep as is asked for. Its outline is there in a
/// moment where its writer left one; all of it takes as long as it has events. Whoever wants both asks for
/// both: they are of the same file, even if its name leads to another one meanwhile. One thread.
class Opener {
public:
    /// An error says why the file cannot be opened.
    [[nodiscard]] static Result<Opener> open(
        const std::filesystem::path& path, const OpenOptions& options = {});

    /// The whole file at once.
    [[nodiscard]] static Result<std::shared_ptr<const Session>> openAll(
        const std::filesystem::path& path, const OpenOptions& options = {}, const Progress& progress = {});

    /// What a summary needs, notes included; none where only all() tells (RecordingFile::outline()).
    [[nodiscard]] std::optional<SessionOutline> outline();

    /// As RecordingFile::isTrace(): before anything else is asked for.
    [[nodiscard]] bool isTrace() { return m_file.isTrace(); }

    /// All of it, whatever readable format it has. A damaged file opens as far as it goes
    /// (Recording::truncation).
    [[nodiscard]] Result<std::shared_ptr<const Session>> all(const Progress& progress = {});

private:
    Opener(RecordingFile file, std::filesystem::path notesFolder);
    void complete(Recording& recording);

    RecordingFile m_file;
    std::filesystem::path m_notesFolder;
    std::optional<std::vector<wire::SymbolRow>> m_symbols; // once looked up: those of both depths
};

} // namespace strata::model
