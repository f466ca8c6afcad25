// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/reader.h"

#include "model/readers/html_page.h"
#include "model/readers/json/json_reader.h"
#include "model/readers/pickle/pickle_reader.h"
#include "model/readers/snapshot/snapshot_reader.h"
#include "model/readers/session/session_reader.h"
#include "model/readers/sniff.h"
#include "model/readers/source/byte_source.h"
#include "model/readers/source/byte_stream.h"

#include <fmt/format.h>
#include <new>
#include <unistd.h>

namespace strata::model {

namespace {

constexpr std::size_t kHeadBytes = 4096;

std::uint64_t halfOfMemory()
{
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long pageBytes = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || pageBytes <= 0)
        return std::uint64_t{ 4 } << 30;
    return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(pageBytes) / 2;
}

struct Sniffed {
    FileForm form;
    std::unique_ptr<ByteSource> source; ///< from its first byte on
};

Result<Sniffed> sniffSource(std::unique_ptr<ByteSource> source)
{
    std::vector<std::byte> head(kHeadBytes);
    std::size_t have = 0;
    while (have < head.size()) {
        const Result<std::size_t> got = source->read(std::span(head).subspan(have));
        if (!got && have == 0)
            return Failure(got.error());
        if (!got || *got == 0)
            break; // an error shows again when the reader gets there
        have += *got;
    }
    head.resize(have);
    const Result<FileForm> form = sniff(head);
    if (!form)
        return Failure(form.error());
    return Sniffed{ *form, prefixedSource(std::move(head), std::move(source)) };
}

/// Runs a reader of values and makes a recording of what it read, or of what it could save.
template <class Reader> Result<void> readWith(Reader& reader, Heap& heap)
{
    const Result<Value> top = reader.run();
    if (top)
        return readSnapshot(heap, *top, Completeness::Whole);
    const Error error = top.error();
    if (error.kind != Error::Kind::Format && error.kind != Error::Kind::Unreadable)
        return Failure(error);
    if (!readSnapshot(heap, reader.salvage(), Completeness::Salvaged))
        return Failure(error);
    heap.recording().truncation = Truncation{ reader.failedAt(), error.what };
    return {};
}

Result<void> readInto(Recording& recording, std::unique_ptr<ByteSource> source, const ReadLimits& limits,
    const Progress& progress)
{
    recording.fileBytes = source->fileBytesTotal();
    Result<Sniffed> sniffed = sniffSource(std::move(source));
    if (!sniffed)
        return Failure(sniffed.error());
    const std::uint64_t memoryLimit = limits.force ? UINT64_MAX : halfOfMemory();
    if (sniffed->form == FileForm::Session)
        return readSessionFile(recording, std::move(sniffed->source), memoryLimit, progress);
    std::string how;
    if (sniffed->form == FileForm::Gzip) {
        const std::uint64_t limit = limits.force ? UINT64_MAX
            : limits.unpackedBytes != 0          ? limits.unpackedBytes
                                                 : halfOfMemory();
        sniffed = sniffSource(gzipSource(std::move(sniffed->source), limit));
        if (!sniffed)
            return Failure(sniffed.error());
        if (sniffed->form == FileForm::Gzip)
            return fail(
                Error::Kind::Format, "this is packed twice with gzip", "unpack it once and open that");
        how = ", gzip";
    }
    if (sniffed->form == FileForm::Html) {
        Result<std::unique_ptr<ByteSource>> inner = snapshotInPage(std::move(sniffed->source), progress);
        if (!inner)
            return Failure(inner.error());
        sniffed = sniffSource(std::move(*inner));
        if (!sniffed)
            return Failure(sniffed.error());
        how += ", in a memory_viz page";
    }

    Heap heap(recording);
    ByteStream stream(std::move(sniffed->source), progress, [&heap] { return heap.eventCount(); });
    Result<void> read;
    std::string form;
    if (sniffed->form == FileForm::Json) {
        JsonReader reader(stream, heap, memoryLimit);
        read = readWith(reader, heap);
        form = "JSON";
    } else if (sniffed->form == FileForm::Pickle) {
        PickleReader reader(stream, heap, memoryLimit);
        read = readWith(reader, heap);
        form = fmt::format("pickle protocol {}", reader.protocol());
    } else {
        return fail(Error::Kind::Format, "there is no snapshot inside it");
    }
    if (!read)
        return read;
    if (recording.format.empty())
        recording.format = "PyTorch snapshot";
    recording.format += fmt::format(" ({}{})", form, how);
    return {};
}

Result<std::unique_ptr<Recording>> readSource(std::unique_ptr<ByteSource> source, const std::string& path,
    const ReadLimits& limits, const Progress& progress)
{
    auto recording = std::make_unique<Recording>();
    recording->path = path;
    Result<void> read;
    try {
        read = readInto(*recording, std::move(source), limits, progress);
    } catch (const std::bad_alloc&) {
        read = fail(Error::Kind::Refused, "this machine has not enough memory to read it",
            "open it on a machine with more memory");
    } catch (const std::length_error&) {
        read = fail(Error::Kind::Refused, "it is larger than this machine can hold");
    }
    if (!read) {
        Error error = read.error();
        error.where = path;
        return Failure(std::move(error));
    }
    return recording;
}

std::optional<RecordingOutline> outlineFrom(
    std::unique_ptr<ByteSource> source, const std::string& path, const ReadLimits& limits)
{
    RecordingOutline outline{ std::make_unique<Recording>(), {} };
    outline.recording->path = path;
    outline.recording->fileBytes = source->fileBytesTotal();
    try {
        Result<Sniffed> sniffed = sniffSource(std::move(source));
        if (!sniffed || sniffed->form != FileForm::Session)
            return std::nullopt;
        auto digests = readSessionOutline(
            *outline.recording, std::move(sniffed->source), limits.force ? UINT64_MAX : halfOfMemory());
        if (!digests)
            return std::nullopt;
        outline.digests = std::move(*digests);
    } catch (const std::bad_alloc&) {
        return std::nullopt;
    } catch (const std::length_error&) {
        return std::nullopt;
    }
    return outline;
}

} // namespace

Result<std::unique_ptr<Recording>> readRecording(
    const std::filesystem::path& path, const ReadLimits& limits, const Progress& progress)
{
    Result<std::unique_ptr<ByteSource>> source = openFile(path);
    if (!source) {
        Error error = source.error();
        error.where = path.string();
        return Failure(std::move(error));
    }
    return readSource(std::move(*source), path.string(), limits, progress);
}

Result<std::unique_ptr<Recording>> readRecording(
    std::span<const std::byte> content, const ReadLimits& limits, const Progress& progress)
{
    return readSource(memorySource(content), {}, limits, progress);
}

std::optional<RecordingOutline> readOutline(const std::filesystem::path& path, const ReadLimits& limits)
{
    Result<std::unique_ptr<ByteSource>> source = openFile(path);
    return source ? outlineFrom(std::move(*source), path.string(), limits) : std::nullopt;
}

std::optional<RecordingOutline> readOutline(std::span<const std::byte> content, const ReadLimits& limits)
{
    return outlineFrom(memorySource(content), {}, limits);
}

} // namespace strata::model
