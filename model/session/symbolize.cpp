// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/symbolize.h"

#include "model/readers/reader.h"
#include "model/session/chunk_file.h"
#include "model/symbols/find_symbols.h"
#include "model/wire/symbols.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <span>

namespace strata::model {

namespace {

/// Behind all that a recorder wrote; nothing that is there changes.
Result<void> appendSymbols(const std::filesystem::path& path, std::span<const wire::SymbolRow> rows)
{
    const ChunkFile file(path, O_RDWR);
    if (file.isOpen() && file.lock()) {
        const ChunkWalk at = file.walk();
        if (!at.hasIndex && file.isBeingRecorded())
            return fail(Error::Kind::Format,
                say("the recording is not finished: what it says of C++ stays as it is"),
                say("wait until the program that is recorded has ended"));
        const auto write = [&](wire::ChunkWriter& writer) {
            writer.chunk(wire::ChunkType::Symbols, [&](wire::Bytes& out) { wire::encodeSymbols(rows, out); });
        };
        if (file.append(at, write))
            return {};
    }
    return fail(Error::Kind::Unreadable, say("%1: cannot be written: %2", path, std::strerror(errno)),
        say("copy it to a folder of your own, or free some space"));
}

} // namespace

Result<Symbolized> symbolize(const std::filesystem::path& path)
{
    auto file = RecordingFile::open(path, { .force = true });
    if (!file)
        return Failure(file.error());
    auto outline = file->outline();
    auto read = outline ? std::move(outline->recording) : file->all();
    if (!read)
        return Failure(read.error());
    const FoundSymbols found = findSymbols(**read, SymbolsOf::All);
    if (!found.rows.empty())
        if (const auto written = appendSymbols(path, found.rows); !written)
            return Failure(written.error());
    return Symbolized{ found.places, found.withLine };
}

} // namespace strata::model
