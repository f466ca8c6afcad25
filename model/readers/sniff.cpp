// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/sniff.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace strata::model {

namespace {

using namespace std::string_view_literals;

Failure noSnapshot(Sentence what)
{
    return fail(Error::Kind::Format, std::move(what),
        say("record a snapshot with torch.cuda.memory._record_memory_history() and "
            "torch.cuda.memory._dump_snapshot(FILE), and open that"));
}

struct Magic {
    std::string_view bytes;
    English what;
};

constexpr std::array kOthers{
    Magic{ "\x89PNG"sv, English("this is a PNG picture, not a memory snapshot") },
    Magic{ "\xff\xd8\xff"sv, English("this is a JPEG picture, not a memory snapshot") },
    Magic{ "GIF8"sv, English("this is a GIF picture, not a memory snapshot") },
    Magic{ "%PDF"sv, English("this is a PDF document, not a memory snapshot") },
    Magic{ "PK\x03\x04"sv,
        English(
            "this is a model checkpoint (torch.save archive) or another zip file, not a memory snapshot") },
    Magic{ "\x7f"
           "ELF"sv,
        English("this is a program, not a memory snapshot") },
    Magic{ "SQLite format 3"sv,
        English("this is a database (SQLite), as Nsight Systems exports them, not a memory snapshot") },
    Magic{ "NVR\0"sv, English("this is a report of Nsight Compute, not a memory snapshot") },
    Magic{ "BZh"sv, English("this is packed with bzip2, which Strata does not unpack") },
    Magic{ "\xfd"
           "7zXZ"sv,
        English("this is packed with xz, which Strata does not unpack") },
    Magic{ "\x28\xb5\x2f\xfd"sv, English("this is packed with zstd, which Strata does not unpack") },
};

// What torch.save wrote before 1.6: a pickled magic number of ten bytes.
constexpr std::string_view kOldCheckpoint = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;

/// The first file of a tar archive; empty: `head` is of another file.
std::string_view firstInTar(std::string_view head)
{
    constexpr std::size_t kMagicAt = 257, kLongestName = 100;
    if (head.size() < kMagicAt + 5 || head.substr(kMagicAt, 5) != "ustar")
        return {};
    const std::string_view name = head.substr(0, kLongestName);
    return name.substr(0, std::min(name.find('\0'), name.size()));
}

bool looksLikeText(std::string_view head)
{
    return std::none_of(head.begin(), head.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < ' ' && byte != '\n' && byte != '\r' && byte != '\t' && byte != '\f') || byte == 0x7f;
    });
}

bool containsIgnoringCase(std::string_view text, std::string_view wanted)
{
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    return std::search(text.begin(), text.end(), wanted.begin(), wanted.end(), same) != text.end();
}

/// Protocols 0 and 1 have no header: a dict or list is opened, then memoised or filled.
bool looksLikeOldPickle(std::string_view head)
{
    if (head.size() < 2)
        return false;
    const char next = head[1];
    switch (head[0]) {
    case '(':
        return next == 'd' || next == 'l';
    case '}':
    case ']':
        return next == 'q' || next == 'r' || next == '.' || next == '(' || next == 'p';
    default:
        return false;
    }
}

} // namespace

std::optional<Error> foreignReport(const std::filesystem::path& path)
{
    const std::string ending = path.extension().string();
    const bool systems = ending == ".nsys-rep" || ending == ".qdrep" || ending == ".qdstrm";
    if (!systems && ending != ".ncu-rep")
        return std::nullopt;
    return Error{ Error::Kind::Format,
        systems ? say("this is a report of Nsight Systems, which Strata cannot read")
                : say("this is a report of Nsight Compute, which Strata cannot read"),
        say("record the program with strata record --kernels, or export a trace with torch.profiler and "
            "open that"),
        {} };
}

Result<FileForm> sniff(std::span<const std::byte> bytes)
{
    const std::string_view head{ reinterpret_cast<const char*>(bytes.data()), bytes.size() };
    if (head.empty())
        return fail(
            Error::Kind::Format, say("the file is empty"), say("did the program that wrote it finish?"));
    if (head.starts_with("\x1f\x8b"))
        return FileForm::Gzip;
    if (head.starts_with("STRC"))
        return FileForm::Session;
    if (head.starts_with("\xff\xfe\0\0"sv) || head.starts_with("\0\0\xfe\xff"sv))
        return fail(Error::Kind::Format, say("this is a text in UTF-32"),
            say("save it again as UTF-8 and open that file"));
    if (head.starts_with("\xff\xfe") || head.starts_with("{\0"sv) || head.starts_with("[\0"sv))
        return FileForm::Utf16Little;
    if (head.starts_with("\xfe\xff") || head.starts_with("\0{"sv) || head.starts_with("\0["sv))
        return FileForm::Utf16Big;
    if (const std::string_view first = firstInTar(head); !first.empty())
        return fail(Error::Kind::Format, say("this is a tar archive that begins with %1", first),
            say("unpack it with tar -xf, and open the recording in it"));
    if (head.starts_with(kOldCheckpoint))
        return noSnapshot(say("this is a model checkpoint of an old torch.save, not a memory snapshot"));
    for (const Magic& other : kOthers) {
        if (head.starts_with(other.bytes))
            return noSnapshot(Sentence(other.what));
    }
    if (head[0] == '\x80' && (head.size() == 1 || head[1] <= 16))
        return FileForm::Pickle;
    if (looksLikeOldPickle(head))
        return FileForm::Pickle;

    std::string_view text = head;
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (text.starts_with('{') || text.starts_with('['))
        return FileForm::Json;
    if (text.starts_with('<')
        && (containsIgnoringCase(text, "<!doctype html") || containsIgnoringCase(text, "<html")
            || containsIgnoringCase(text, "<script")))
        return FileForm::Html;
    if (looksLikeText(head))
        return noSnapshot(say("this is a text file, not a memory snapshot"));
    return noSnapshot(say("this is no memory snapshot: neither a pickle nor JSON nor gzip"));
}

} // namespace strata::model
