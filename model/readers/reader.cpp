// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/reader.h"

#include "model/readers/guarded.h"
#include "model/readers/html_page.h"
#include "model/readers/json/foreign_json.h"
#include "model/readers/json/json_reader.h"
#include "model/readers/kineto/kineto_reader.h"
#include "model/readers/kineto/memory_timeline.h"
#include "model/readers/pickle/pickle_reader.h"
#include "model/readers/session/session_reader.h"
#include "model/readers/snapshot/snapshot_reader.h"
#include "model/readers/sniff.h"
#include "model/readers/source/byte_source.h"
#include "model/readers/source/byte_stream.h"

#include <fmt/format.h>
#include <unistd.h>
#include <utility>

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
    bool isTrace; ///< JSON of a profiler
    bool isTimeline; ///< JSON of export_memory_timeline()
    std::optional<Sentence> foreign; ///< what JSON of others seems to be
    std::unique_ptr<ByteSource> source; ///< from its first byte on
    bool isUtf16 = false; ///< the source makes UTF-8 of it
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
    if (*form == FileForm::Utf16Little || *form == FileForm::Utf16Big) {
        Result<Sniffed> inner = sniffSource(utf16Source(
            prefixedSource(std::move(head), std::move(source)), *form == FileForm::Utf16Big));
        if (!inner && inner.error().kind != Error::Kind::Format)
            return Failure(inner.error());
        if (!inner || (inner->form != FileForm::Json && inner->form != FileForm::Html))
            return fail(Error::Kind::Format, say("this is a text in UTF-16, and no JSON"), whatOpens());
        inner->isUtf16 = true;
        return inner;
    }
    const bool isTrace = *form == FileForm::Json && looksLikeChromeTrace(head);
    const bool isTimeline = *form == FileForm::Json && looksLikeMemoryTimeline(head);
    auto foreign = *form == FileForm::Json && !isTrace && !isTimeline ? foreignJson(head) : std::nullopt;
    return Sniffed{ *form, isTrace, isTimeline, std::move(foreign),
        prefixedSource(std::move(head), std::move(source)) };
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
            return fail(Error::Kind::Format, say("this is packed twice with gzip"),
                say("unpack it once and open that"));
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

    if (sniffed->isUtf16)
        how += ", UTF-16";

    Heap heap(recording);
    ByteStream stream(std::move(sniffed->source), progress, [&heap] { return heap.eventCount(); });
    Result<void> read;
    std::string form;
    if (sniffed->isTrace) {
        read = readChromeTrace(recording, stream);
        form = "JSON";
    } else if (sniffed->isTimeline) {
        read = readMemoryTimeline(recording, stream);
        form = "JSON";
    } else if (sniffed->form == FileForm::Json) {
        JsonReader reader(stream, heap, memoryLimit);
        read = readWith(reader, heap);
        if (!read && read.error().kind == Error::Kind::Format && sniffed->foreign)
            return fail(Error::Kind::Format,
                say("this seems to be %1, which is no recording of memory", *sniffed->foreign), whatOpens());
        form = "JSON";
    } else if (sniffed->form == FileForm::Pickle) {
        PickleReader reader(stream, heap, memoryLimit);
        read = readWith(reader, heap);
        form = fmt::format("pickle protocol {}", reader.protocol());
    } else {
        return fail(Error::Kind::Format, say("there is no snapshot inside it"));
    }
    if (!read)
        return read;
    if (recording.format.empty())
        recording.format = "PyTorch snapshot";
    recording.format += fmt::format(" ({}{})", form, how);
    return {};
}

/// Reads from a source that somebody else keeps.
class BorrowedSource final : public ByteSource {
public:
    explicit BorrowedSource(ByteSource& source)
        : m_source(source)
    {
    }

    Result<std::size_t> read(std::span<std::byte> into) override { return m_source.read(into); }
    Result<std::uint64_t> skip(std::uint64_t count) override { return m_source.skip(count); }
    std::uint64_t fileBytesDone() const override { return m_source.fileBytesDone(); }
    std::uint64_t fileBytesTotal() const override { return m_source.fileBytesTotal(); }
    Sentence nameOf(std::uint64_t offset) const override { return m_source.nameOf(offset); }

private:
    ByteSource& m_source;
};

} // namespace

RecordingFile::RecordingFile(std::unique_ptr<ByteSource> source, std::string path, const ReadLimits& limits)
    : m_source(std::move(source))
    , m_path(std::move(path))
    , m_limits(limits)
{
}

RecordingFile::RecordingFile(std::span<const std::byte> content, const ReadLimits& limits)
    : RecordingFile(memorySource(content), {}, limits)
{
}

RecordingFile::RecordingFile(RecordingFile&&) noexcept = default;
RecordingFile& RecordingFile::operator=(RecordingFile&&) noexcept = default;
RecordingFile::~RecordingFile() = default;

Result<RecordingFile> RecordingFile::open(const std::filesystem::path& path, const ReadLimits& limits)
{
    Result<std::unique_ptr<ByteSource>> source = openFile(path);
    if (source)
        return RecordingFile(std::move(*source), path.string(), limits);
    Error error = source.error();
    error.where = path.string();
    return Failure(std::move(error));
}

int RecordingFile::descriptor() const
{
    return m_source->descriptor();
}

bool RecordingFile::begin()
{
    return !std::exchange(m_begun, true) || m_source->rewind();
}

std::optional<SessionOutline> RecordingFile::outline()
{
    // Where there is no way back, all() must find the first byte unread.
    if (!m_source->rewind())
        return std::nullopt;
    m_begun = true;
    auto recording = std::make_unique<Recording>();
    recording->path = m_path;
    recording->fileBytes = m_source->fileBytesTotal();
    std::optional<SessionOutline> outline;
    const Result<void> read = guarded([&]() -> Result<void> {
        Result<Sniffed> sniffed = sniffSource(std::make_unique<BorrowedSource>(*m_source));
        if (!sniffed || sniffed->form != FileForm::Session)
            return {};
        auto digests = readSessionOutline(
            *recording, std::move(sniffed->source), m_limits.force ? UINT64_MAX : halfOfMemory());
        if (digests)
            outline = outlineOf(std::move(recording), std::move(*digests));
        return {};
    });
    return read ? std::move(outline) : std::nullopt;
}

bool RecordingFile::isTrace()
{
    if (!m_source->rewind())
        return false;
    bool is = false;
    const Result<void> read = guarded([&]() -> Result<void> {
        Result<Sniffed> sniffed = sniffSource(std::make_unique<BorrowedSource>(*m_source));
        if (sniffed && sniffed->form == FileForm::Gzip)
            sniffed = sniffSource(gzipSource(std::move(sniffed->source), kHeadBytes));
        is = sniffed && sniffed->isTrace;
        return {};
    });
    m_begun = true;
    return read && is;
}

Result<std::unique_ptr<Recording>> RecordingFile::all(const Progress& progress)
{
    auto recording = std::make_unique<Recording>();
    recording->path = m_path;
    const Result<void> read = begin()
        ? guarded([&] {
              return readInto(*recording, std::make_unique<BorrowedSource>(*m_source), m_limits, progress);
          })
        : fail(
            Error::Kind::Unreadable, say("what comes through a pipe can be read once"), say("name a file"));
    if (read)
        return recording;
    Error error = read.error();
    if (error.kind == Error::Kind::Format)
        error = foreignReport(m_path).value_or(std::move(error));
    error.where = m_path;
    return Failure(std::move(error));
}

Result<std::unique_ptr<Recording>> readRecording(
    const std::filesystem::path& path, const ReadLimits& limits, const Progress& progress)
{
    Result<RecordingFile> file = RecordingFile::open(path, limits);
    return file ? file->all(progress) : Failure(file.error());
}

Result<std::unique_ptr<Recording>> readRecording(
    std::span<const std::byte> content, const ReadLimits& limits, const Progress& progress)
{
    return RecordingFile(content, limits).all(progress);
}

} // namespace strata::model
